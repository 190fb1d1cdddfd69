// The adapter for effects over HTTP.
export { createHttpEffectAdapter, httpPostAction } from './http-effect.js';
