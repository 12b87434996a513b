/** Whether the package holds the module with threads; scripts/npm quick says no. */
export const hasThreads = true;
