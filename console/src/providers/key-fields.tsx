import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import type { ProviderCredentialState } from '../api/generated/credentials.ts';
import { KeyFileField } from './key-file-field.tsx';

/** What each provider gives its customers to identify themselves by. */
export function KeyFields({ provider }: { provider: ProviderCredentialState['provider'] }) {
  switch (provider) {
    case 'fcm':
      return (
        <KeyFileField
          name="keyFile"
          label="Key file of the service account"
          description="Firebase console: Project settings, Service accounts, Generate new private key. Paste the JSON or choose the file."
          accept=".json,application/json"
        />
      );
    case 'apns':
      return (
        <>
          <KeyFileField
            name="privateKey"
            label="Key (.p8)"
            description="Apple developer account: Keys, with Apple Push Notifications service. Paste the file or choose it."
            accept=".p8,.pem"
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput name="keyId" label="Key id" description="Ten letters and digits" required />
            <TextInput name="teamId" label="Team id" description="Ten letters and digits" required />
            <TextInput name="topic" label="Bundle id" description="For example com.example.shop" required />
            <NativeSelect
              name="environment"
              label="Environment"
              description="Builds from Xcode use the sandbox"
              data={[
                { value: 'production', label: 'Production' },
                { value: 'sandbox', label: 'Sandbox' },
              ]}
            />
          </SimpleGrid>
        </>
      );
    case 'webpush':
      return (
        <>
          <TextInput
            name="subject"
            label="Contact"
            description="Where push services report problems: mailto:push@your-company.com or an https address, on the internet. Without keys below, another contact leaves the keys in use as they are"
            required
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              name="publicKey"
              label="Public key"
              description="65 bytes in base64url; leave empty for a new pair"
            />
            <TextInput
              name="privateKey"
              label="Private key"
              description="32 bytes in base64url; leave empty for a new pair"
              autoComplete="off"
            />
          </SimpleGrid>
        </>
      );
    case 'hms':
      return (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            name="clientId"
            label="Client id"
            description="AppGallery Connect: Project settings, General information"
            required
          />
          <TextInput
            name="clientSecret"
            label="Client secret"
            description="On the same page"
            autoComplete="off"
            required
          />
          <TextInput name="projectId" label="Project id" description="Messages are sent for the project" />
          <TextInput name="huaweiAppId" label="App id" description="Or, without a project id, for this app alone" />
        </SimpleGrid>
      );
    default:
      return provider satisfies never;
  }
}
