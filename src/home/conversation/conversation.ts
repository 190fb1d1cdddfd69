// A conversation as one of our principals sees it. Its membership is owned by the domain that created it.

export interface RememberConversation {
  home: string;
  conversationId: string;
  /** Address of who began it. */
  createdBy: string;
  creatingDomain: string;
  /** Addresses known to take part; participants are only ever added here. */
  participants: readonly string[];
}

export interface Conversation {
  home: string;
  conversationId: string;
  createdBy: string;
  creatingDomain: string;
  createdAt: Date;
  participants: string[];
}
