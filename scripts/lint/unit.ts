/** Checks a systemd unit with systemd. */

import { spawnSync } from 'node:child_process'
import { findProgram } from '../../test/support/debian-package.ts'

/** The program may not be installed here, and systemd before 254 does not know the two keys. */
const expected = /Unknown key.*Restart(Steps|MaxDelaySec)|node is not executable|user micwatch|^$/i

/** Returns the lines of the unit that systemd does not accept. An exposure of 3.0 or more is a problem too. */
export async function lintUnit(path: string): Promise<string[]> {
  const program = await findProgram('systemd-analyze', 'systemd')
  const analyze = (...args: string[]) => spawnSync(program, [...args, path], { encoding: 'utf8' })
  const security = analyze('security', '--offline=true', '--threshold=29')
  return [
    ...analyze('verify')
      .stderr.split('\n')
      .filter((line) => !expected.test(line)),
    ...(security.status === 0 ? [] : [`${path}: ${security.stdout.trim().split('\n').at(-1)}`]),
  ]
}
