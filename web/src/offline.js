// The service worker: keeps the files of the page that a visit has loaded, and gives them when the host cannot be reached. It downloads
// nothing that the page does not use. vite.config.ts puts the list of all files in.
const files = FILES;
// Files have a hash in their names, so another list is another version.
const version = `sinew ${files.join(' ')}`;
const own = new Set(files.map((file) => new URL(file, self.location).href));

async function install() {
  const cache = await caches.open(version);
  await cache.add('./');
  await Promise.all([...own].map(async (url) => {
    const loaded = await fetch(url, {cache: 'only-if-cached', mode: 'same-origin'}).catch(() => null);
    if (loaded?.ok) await cache.put(url, loaded);
  }));
  await self.skipWaiting();
}
async function activate() {
  for (const name of await caches.keys()) if (name.startsWith('sinew ') && name !== version) await caches.delete(name);
  await self.clients.claim();
}
async function answer(event) {
  try {
    const answer = await fetch(event.request);
    if (answer.ok && own.has(event.request.url)) {
      const copy = answer.clone();
      event.waitUntil(caches.open(version).then((cache) => cache.put(event.request.url, copy)));
    }
    return answer;
  } catch (error) {
    const kept = await caches.match(event.request, {ignoreSearch: true});
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('fetch', (event) => event.request.method === 'GET' && event.respondWith(answer(event)));
