/** Where package managers keep what they fetched, below the home of a cell. None of it holds programs that a shell finds. */
export const cachePlaces = {
  cargo: ['.cargo/registry', '.cargo/git'],
  go: ['go/pkg/mod', '.cache/go-build'],
  npm: ['.npm'],
  pip: ['.cache/pip'],
  uv: ['.cache/uv'],
} as const;

export type CacheName = keyof typeof cachePlaces;

export const cacheNames = Object.keys(cachePlaces) as [CacheName, ...CacheName[]];
