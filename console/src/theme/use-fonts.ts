import { useEffect } from 'react';

/**
 * Loads the typefaces after the first screen is shown in the platform's own font, so that they delay nothing: the first load
 * stays within its budget, and the text is replaced when they arrive (font-display: swap).
 */
export function useFonts(): void {
  useEffect(() => {
    void import('./fonts.css');
  }, []);
}
