// Replaces modules of node that the page does not use (vite.config.ts).
export default {};
