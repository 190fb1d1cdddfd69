/** The door of the attention room. */
export {
  type AttentionFacts,
  attentionLimits,
  isWeighed,
  recordOfAttention,
  type WeighedAttention,
} from './attention.js';
export { attendTo, looksAtNothing } from './gather-attention.js';
export { weighAttention } from './weigh-attention.js';
