// The adapter for effects over HTTP.
export { createHttpEffectAdapter, type HttpEffectOptions, httpPostAction } from './http-effect.js';
