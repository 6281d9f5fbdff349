import { Carillon } from '@carillon/react-native';
import { useEffect, useState } from 'react';
import { Button, SafeAreaView, ScrollView, Text } from 'react-native';
import { appKey, host } from './settings.json';

/** A shop with one screen and one customer. */
export default function App() {
  const [log, setLog] = useState([]);
  const show = (line) => setLog((lines) => [...lines, line]);
  const attempt = (done, work) => () =>
    work().then(
      () => show(done),
      (error) => show(String(error)),
    );

  useEffect(() => {
    const ends = [
      Carillon.onMessage(({ title }) => show(`message: ${title}`)),
      Carillon.onNotice((notice) => show(`notice: ${notice}`)),
    ];
    Carillon.start(appKey, host).catch((error) => show(String(error)));
    return () => ends.forEach((end) => end());
  }, []);

  return (
    <SafeAreaView>
      <Button title="Tell me about offers" onPress={attempt('asked', () => Carillon.askPermission())} />
      {/* A real app passes the token of its server: docs/app-api.md, "Signing users in". A sandbox accepts none. */}
      <Button title="Sign in as Ada" onPress={attempt('signed in', () => Carillon.login('ada'))} />
      <Button
        title="Look at an offer"
        onPress={attempt('viewed', () => Carillon.track('Offer viewed', { offer: 'tea' }))}
      />
      <Button title="Sign out" onPress={attempt('signed out', () => Carillon.logout())} />
      <ScrollView>
        {log.map((line, index) => (
          <Text key={index}>{line}</Text>
        ))}
      </ScrollView>
    </SafeAreaView>
  );
}
