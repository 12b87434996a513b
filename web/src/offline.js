// The service worker: keeps the files of the page, and gives them when the host cannot be reached. vite.config.ts puts their list in.
const files = FILES;
// Files have a hash in their names, so another list is another version.
const version = `sinew ${files.join(' ')}`;

self.addEventListener('install', (event) => event.waitUntil(caches.open(version).then((cache) => cache.addAll(files)).then(() => self.skipWaiting())));
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith('sinew ') && name !== version) await caches.delete(name);
  await self.clients.claim();
})()));
self.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return;
  event.respondWith(fetch(event.request).catch(async (error) => {
    const kept = await caches.match(event.request, {ignoreSearch: true});
    if (kept) return kept;
    throw error;
  }));
});
