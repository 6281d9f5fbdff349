// Sets the colour scheme before the page is painted. The reader chose it here or in the console, which stores it under the same
// name.
const chosen = localStorage.getItem('mantine-color-scheme-value');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.scheme = chosen;
