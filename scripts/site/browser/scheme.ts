// Before the page is painted: the scheme that somebody chose here or in the console, which keeps it under the same name.
const chosen = localStorage.getItem('mantine-color-scheme-value');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.scheme = chosen;
