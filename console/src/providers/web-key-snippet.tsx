import { Text } from '@mantine/core';
import { CopyableBlock } from '../parts/copyable.tsx';

/** How a page subscribes its browsers with the workspace's public key. */
export function WebKeySnippet({ publicKey }: { publicKey: string }) {
  const lines = [
    `// In answer to a click: browsers refuse to ask otherwise. The file is client/browser/carillon-service-worker.js.`,
    `const worker = await navigator.serviceWorker.register(`,
    `  '/carillon-service-worker.js?service=${encodeURIComponent(location.origin)}',`,
    `);`,
    `await navigator.serviceWorker.ready;`,
    `if ((await Notification.requestPermission()) === 'granted') {`,
    `  const subscription = await worker.pushManager.subscribe({`,
    `    userVisibleOnly: true,`,
    `    applicationServerKey: '${publicKey}',`,
    `  });`,
    `  // The push_id of a device of platform "web":`,
    `  console.log(JSON.stringify(subscription));`,
    `}`,
  ];
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        For your web page
      </Text>
      <CopyableBlock text={lines.join('\n')} label="code for the web page" />
    </div>
  );
}
