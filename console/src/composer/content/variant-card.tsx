import { Button, Card, Chip, Group, NativeSelect, NumberInput, Radio, Stack, Text, Title } from '@mantine/core';
import { listAt, textAt } from '../campaign-body.ts';
import { useCampaignForm, useFault, visibleFaults } from '../campaign-form.ts';
import { languageName, offeredLanguages } from './languages.ts';
import {
  addLanguage,
  addVariation,
  defaultLocale,
  equalShares,
  localesOf,
  maxLanguages,
  maxVariations,
  ofShares,
  pushPath,
  removeLanguage,
  removeVariation,
  sharesOf,
  variationCount,
} from './variants.ts';
import type { ShownContent } from './variants.ts';

/** The variations and languages of the message, and the one that is edited below. */
export function VariantCard() {
  const { body } = useCampaignForm();
  const count = variationCount(body);
  const isSingle = count === 1 && localesOf(body).length === 1;
  return (
    <Card withBorder component="section" aria-label="Variations and languages">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h5">
            Variations and languages
          </Title>
          <Group gap="xs">
            <AddVariation count={count} />
            <AddLanguage />
          </Group>
        </Group>
        {isSingle && <Text size="sm">Everyone gets the same message.</Text>}
        {count > 1 && <Variations count={count} />}
        <Languages />
      </Stack>
    </Card>
  );
}

function AddVariation({ count }: { count: number }) {
  const { body, shown, show, write } = useCampaignForm();
  if (count >= maxVariations) return null;
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => {
        write(addVariation(body));
        show({ ...shown, variation: count + 1 });
      }}
    >
      Add variation
    </Button>
  );
}

function Variations({ count }: { count: number }) {
  const { body, shown, show, write } = useCampaignForm();
  const shares = sharesOf(body);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Chip.Group
          multiple={false}
          value={String(shown.variation)}
          onChange={(value) => show({ ...shown, variation: Number(value) })}
        >
          <Group gap={6} role="radiogroup" aria-label="Variation">
            {numbers.map((number) => (
              <Chip key={number} value={String(number)}>
                Variation {number}
                {shares && ` · ${shares[number - 1]} %`}
                <FaultMark of={{ ...shown, variation: number }} />
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          onClick={() => {
            write(removeVariation(body, shown.variation));
            show({ ...shown, variation: Math.max(1, shown.variation - 1) });
          }}
        >
          Remove variation {shown.variation}
        </Button>
      </Group>
      <Shares count={count} />
    </Stack>
  );
}

/** Fixed shares in percent, or shares that follow the results. */
function Shares({ count }: { count: number }) {
  const { body, write } = useCampaignForm();
  const at = 'campaign_content.variation_details';
  const shares = sharesOf(body);
  const error = useFault(`${at}.manual_distribution_percentage`, `${at}.sherpa_metric`, `${at}.distribution_type`);
  const hasGoal = listAt(body, 'conversion_goal_details.goals').length > 0;
  const sum = shares?.reduce((all, share) => all + share, 0);
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Who gets which"
        {...(error === undefined ? {} : { error })}
        value={shares === undefined ? 'learned' : 'fixed'}
        onChange={(next) => write(ofShares(next === 'fixed' ? equalShares(count) : { learnedFrom: 'CLICKS' }))}
      >
        <Group gap="lg" mt={4} align="flex-start">
          <Radio value="fixed" label="Fixed shares" />
          <Radio
            value="learned"
            label="More people get the better one"
            description="Carillon compares the clicks while it sends"
          />
        </Group>
      </Radio.Group>
      {shares !== undefined && (
        <Group gap="xs" align="flex-end">
          {shares.map((share, index) => (
            <NumberInput
              key={index}
              label={`Variation ${index + 1}, %`}
              w={120}
              min={0}
              max={100}
              allowDecimal={false}
              value={share}
              onChange={(next) => write(ofShares(shares.with(index, typeof next === 'number' ? next : 0)))}
            />
          ))}
          <Text size="sm" pb={8} {...(sum === 100 ? { c: 'dimmed' } : { c: 'var(--mantine-color-error)' })}>
            {sum === 100 ? 'Together 100 %' : `Together ${sum} %; they must be 100 %`}
          </Text>
        </Group>
      )}
      {shares === undefined && hasGoal && (
        <Radio.Group
          label="Compared by"
          value={textAt(body, `${at}.sherpa_metric`) || 'CLICKS'}
          onChange={(next) => write(ofShares({ learnedFrom: next === 'GOAL' ? 'GOAL' : 'CLICKS' }))}
        >
          <Group mt={4}>
            <Radio value="CLICKS" label="Clicks" />
            <Radio value="GOAL" label="The primary goal" />
          </Group>
        </Radio.Group>
      )}
    </Stack>
  );
}

/** Adds the chosen language and shows it, with the default texts to translate. */
function AddLanguage() {
  const { body, shown, show, write } = useCampaignForm();
  const locales = localesOf(body);
  if (locales.length > maxLanguages) return null;
  const offered = offeredLanguages
    .filter((tag) => !locales.includes(tag))
    .map((tag) => ({ value: tag, label: languageName(tag) }))
    .sort((one, other) => one.label.localeCompare(other.label));
  return (
    <NativeSelect
      size="xs"
      aria-label="Add language"
      value=""
      data={[{ value: '', label: 'Add language' }, ...offered]}
      onChange={({ currentTarget: { value: tag } }) => {
        if (tag === '') return;
        write(addLanguage(body, tag));
        show({ ...shown, locale: tag });
      }}
    />
  );
}

function Languages() {
  const { body, shown, show, write } = useCampaignForm();
  const locales = localesOf(body);
  if (locales.length === 1) return null;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Chip.Group
          multiple={false}
          value={shown.locale}
          onChange={(locale) => show({ ...shown, locale: locale as string })}
        >
          <Group gap={6} role="radiogroup" aria-label="Language">
            {locales.map((locale) => (
              <Chip key={locale} value={locale}>
                {locale === defaultLocale ? 'Default' : languageName(locale)}
                <FaultMark of={{ ...shown, locale }} />
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        {shown.locale !== defaultLocale && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            onClick={() => {
              write(removeLanguage(body, shown.locale));
              show({ ...shown, locale: defaultLocale });
            }}
          >
            Remove {languageName(shown.locale)}
          </Button>
        )}
      </Group>
      <Text size="sm">{'People get the language of their device. Everyone else gets the default.'}</Text>
    </Stack>
  );
}

function FaultMark({ of }: { of: ShownContent }) {
  const form = useCampaignForm();
  const path = `${pushPath(form.body, of)}.`;
  const count = visibleFaults(form).filter(({ field }) => field.startsWith(path)).length;
  return count === 0 ? null : ` (${count} to fix)`;
}
