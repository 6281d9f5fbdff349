import { createTheme } from '@mantine/core';
import type { CSSVariablesResolver, MantineColorsTuple } from '@mantine/core';

/** The accent colour. Shade 7 has a contrast of 7.9 : 1 with white, and shade 3 of 7.6 : 1 with the dark page. */
const accent: MantineColorsTuple = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#818cf8',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
];

/** Greys with some of the accent's blue. The default greys look brown next to it. */
const gray: MantineColorsTuple = [
  '#f8f9fb',
  '#f1f3f6',
  '#e6e9ee',
  '#d5dae1',
  '#b8c0cc',
  '#8b95a5',
  '#667085',
  '#475467',
  '#344054',
  '#1d2939',
];
const dark: MantineColorsTuple = [
  '#d3d8e2',
  '#b4bcc9',
  '#98a2b3',
  '#667085',
  '#3b4455',
  '#2b3342',
  '#1d2430',
  '#151b25',
  '#10151d',
  '#0b0f15',
];

/** Inter, and the platform's own font until it is loaded. Noto and Liberation come before the fallback of a bare Linux. */
const fontFamily =
  "'Inter Variable', -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Ubuntu, Cantarell, 'Noto Sans', 'Liberation Sans', Arial, sans-serif";
const fontFamilyMonospace =
  "'JetBrains Mono Variable', ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono', 'Liberation Mono', monospace";

const heading = (fontSize: string, lineHeight: string) => ({ fontSize, lineHeight, fontWeight: '600' });

/** Sizes 12, 13, 14, 16, 20 and 28; weights 400, 500 and 600; distances in steps of four pixels. */
export const theme = createTheme({
  autoContrast: true,
  colors: { accent, gray, dark },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  // WCAG 2.3.3: disables the library's motion for users who prefer reduced motion.
  respectReducedMotion: true,
  fontFamily,
  fontFamilyMonospace,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '20px', xl: '32px' },
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '10px', xl: '16px' },
  headings: {
    fontFamily,
    sizes: {
      h1: heading('28px', '36px'),
      h2: heading('20px', '28px'),
      h3: heading('16px', '24px'),
      h4: heading('14px', '20px'),
      h5: heading('14px', '20px'),
      h6: heading('12px', '16px'),
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm' }, styles: { label: { fontWeight: 500 } } },
    Badge: {
      defaultProps: { variant: 'default', radius: 'xl' },
      styles: { root: { '--badge-fz': '12px', textTransform: 'none', fontWeight: 500 } },
    },
    // The heaviest weight of the theme.
    Alert: { styles: { title: { fontWeight: 600 } } },
    Card: { defaultProps: { radius: 'lg' } },
    SegmentedControl: { styles: { root: { background: 'var(--carillon-track)' }, label: { paddingInline: 10 } } },
    Code: { styles: { root: { fontSize: '12px' } } },
    Table: {
      defaultProps: { highlightOnHover: true, verticalSpacing: 10, borderColor: 'var(--mantine-color-default-border)' },
      styles: {
        table: { fontSize: '13px', fontVariantNumeric: 'tabular-nums' },
        th: { fontSize: '12px', fontWeight: 500, color: 'var(--mantine-color-dimmed)', whiteSpace: 'nowrap' },
      },
    },
    Tooltip: { defaultProps: { transitionProps: { duration: 0 } } },
    Menu: { defaultProps: { shadow: 'md' } },
    Popover: { defaultProps: { shadow: 'md' } },
    // Labels are less prominent than values.
    InputWrapper: {
      styles: {
        label: { fontSize: '13px', fontWeight: 500, marginBottom: 4 },
        description: { fontSize: '12px' },
        error: { fontSize: '12px' },
      },
    },
    Checkbox: { styles: { description: { fontSize: '12px' } } },
    Radio: { styles: { description: { fontSize: '12px' } } },
    Switch: { styles: { description: { fontSize: '12px' } } },
  },
});

/**
 * Three tones of text, and cards that differ from the page. Each pair has a contrast of at least 4.5 : 1 (WCAG 2.2 AA).
 * Marks that are read by length or place, such as tabs and bars, have 3 : 1 on a card (WCAG 1.4.11).
 */
export const cssVariablesResolver: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-text': gray[9],
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-placeholder': gray[6],
    '--mantine-color-error': colors.red[9],
    '--mantine-color-anchor': accent[7],
    '--mantine-color-default-border': gray[2],
    '--carillon-mark': accent[7],
    '--carillon-track': gray[1],
    '--carillon-page': gray[0],
    '--carillon-card': '#ffffff',
    '--carillon-edge': 'rgb(16 24 40 / 16%)',
    '--carillon-good': colors.teal[9],
    '--carillon-glow': '#dfe3ff',
  },
  dark: {
    '--mantine-color-text': '#eaecf2',
    '--mantine-color-dimmed': dark[1],
    '--mantine-color-placeholder': dark[2],
    '--mantine-color-error': colors.red[4],
    '--mantine-color-anchor': accent[3],
    '--mantine-color-default-border': dark[5],
    '--carillon-mark': accent[5],
    '--carillon-track': dark[9],
    '--carillon-page': dark[8],
    '--carillon-card': dark[7],
    '--carillon-edge': 'rgb(0 0 0 / 60%)',
    '--carillon-good': colors.teal[4],
    '--carillon-glow': '#22234f',
  },
});
