/** Which runtime host acts for an agent; its states, and how hosts share agents, are written at the Foundation's port. */
export interface Placement {
  home: string;
  placementLeaseId: string;
  placementEpoch: number;
  holder: string;
  expiresAt: Date;
}
