// Every loop that a Foundation needs, whoever embeds it: a whole domain or one program of its own.
export { type FoundationLoops, startFoundationLoops } from './start-foundation-loops.js';
