/** The door of the attention room. */
export {
  type AttentionFacts,
  attentionLimits,
  recordOfAttention,
  type Signal,
  signalOf,
  type WeighedAttention,
  type Weights,
} from './attention.js';
export { type AttendTo, attendTo } from './gather-attention.js';
export { weighAttention } from './weigh-attention.js';
