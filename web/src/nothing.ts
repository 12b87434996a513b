// In place of modules of node that a page has no use for (vite.config.ts).
export default {};
