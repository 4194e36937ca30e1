import { expect, test } from 'vitest';
import {
  explain,
  findObstacle,
  installCommand,
} from '../../../../src/cell/launchers/bubblewrap/obstacles.js';

const reader = (files: Record<string, string>) => (path: string) => files[path] ?? '';

test.each([
  ['kernel/unprivileged_userns_clone', '0\n', 'kernel.unprivileged_userns_clone=1'],
  ['kernel/apparmor_restrict_unprivileged_userns', '1\n', 'apparmor_parser'],
  ['user/max_user_namespaces', '0\n', 'user.max_user_namespaces='],
])('a kernel that refuses by %s is named with the command that changes it', (setting, value, command) => {
  const { summary, advice } = explain('No permissions', reader({ [`/proc/sys/${setting}`]: value }));
  expect(summary).toContain(setting.replace('/', '.'));
  expect(advice.join('\n')).toContain(command);
});

test('a container that refuses is told how it must be started', () => {
  const { summary, advice } = explain(
    'Operation not permitted',
    reader({ '/proc/1/environ': 'container=docker\0' }),
  );
  expect(summary).toContain('container');
  expect(advice.join('\n')).toContain('--security-opt');
});

test.each([
  ['ID=ubuntu\nID_LIKE=debian\n', 'apt-get'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf'],
  ['ID=alpine\n', 'apk'],
  ['ID=void\n', 'bubblewrap'],
])('the install command fits the distribution', (release, command) => {
  expect(installCommand(release)).toContain(command);
});

test('a program that does not know the options is too old', async () => {
  expect((await findObstacle('/bin/true'))?.summary).toContain('too old');
});
