/** The door of the attention room. */
export {
  type AttentionFacts,
  attentionLimits,
  recordOfAttention,
  type WeighedAttention,
} from './attention.js';
export { attendTo } from './gather-attention.js';
export { weighAttention } from './weigh-attention.js';
