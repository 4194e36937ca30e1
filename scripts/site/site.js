// Search, the choice of colours, and the list of pages on small screens.
const root = document.documentElement;
const stored = localStorage.getItem('theme');
if (stored) root.dataset.theme = stored;

document.querySelector('#theme').addEventListener('click', () => {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const current = root.dataset.theme ?? (isDark ? 'dark' : 'light');
  root.dataset.theme = current === 'dark' ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
});

const pages = document.querySelector('nav details');
const wide = matchMedia('(min-width: 50.01rem)');
const unfold = () => {
  pages.open = wide.matches;
};
wide.addEventListener('change', unfold);
unfold();

const input = document.querySelector('#search');
const results = document.querySelector('#results');
const base = document.body.dataset.base;

input.addEventListener('input', () => show(find(input.value)));
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') show(undefined);
  if (key === 'Enter') results.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === input) return;
  event.preventDefault();
  input.focus();
});

/** Every word has to be there; in a heading it counts most. */
function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return undefined;
  return window.searchIndex
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, 12)
    .map(({ entry }) => entry);
}

function scoreOf({ page, heading, text }, words) {
  let sum = 0;
  for (const word of words) {
    const inHeading = heading.toLowerCase();
    if (inHeading === word) sum += 20;
    else if (inHeading.includes(word)) sum += 10;
    else if (page.toLowerCase().includes(word)) sum += 4;
    else if (text.toLowerCase().includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function show(found) {
  if (found?.length === 0) {
    const none = document.createElement('li');
    none.className = 'none';
    none.textContent = 'Nothing found.';
    results.replaceChildren(none);
    return;
  }
  results.replaceChildren(
    ...(found ?? []).map(({ page, heading, url }) => {
      const line = document.createElement('li');
      const link = document.createElement('a');
      const small = document.createElement('small');
      link.className = 'found';
      link.href = base + url;
      link.textContent = heading;
      small.textContent = page;
      link.append(small);
      link.addEventListener('click', () => results.replaceChildren());
      line.append(link);
      return line;
    }),
  );
}
