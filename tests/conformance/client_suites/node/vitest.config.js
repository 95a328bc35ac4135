export default {
  // ldapts writes its tests for vite-plus, whose tests are vitest.
  resolve: { alias: { 'vite-plus/test': 'vitest' } },
  // The files share one directory.
  test: { fileParallelism: false, setupFiles: ['./ports.js'], testTimeout: 20_000 },
};
