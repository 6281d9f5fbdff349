import { useNavigate, useSearch } from '@tanstack/react-router';

/** Whose eyes the previews are seen with; the address holds it. Undefined: somebody of whom nothing is known. */
export function usePreviewedPerson(): {
  customerId: string | undefined;
  look: (customerId: string | undefined) => void;
} {
  const { as } = useSearch({ strict: false }) as { as?: string };
  const navigate = useNavigate();
  return {
    customerId: as,
    look(customerId) {
      const changed = (search: Record<string, unknown>) => ({ ...search, as: customerId });
      void navigate({ to: '.', search: changed as never, replace: true, resetScroll: false });
    },
  };
}
