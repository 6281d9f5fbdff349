import { Alert, Code, Container, Title } from '@mantine/core';

export function SignInPage() {
  return (
    <Container size="sm" py="xl" component="main">
      <Title order={1} size="h2" mb="md">
        Carillon
      </Title>
      <Alert title="You are not signed in">
        Open the console link that the start of Carillon printed; each link works once, for a day. A new start prints a
        new one: <Code>npm start</Code>
      </Alert>
    </Container>
  );
}
