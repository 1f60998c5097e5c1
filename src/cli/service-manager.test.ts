import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/support/app.ts'
import { createTestFolder } from '../../test/support/store/databases.ts'
import { ServiceManager } from './service-manager.ts'

// Conformance: C-26.15.
test('ServiceManager reports the start and the stop, and beats only while polling moves', async () => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const received = join(path, 'received')
  await writeFile(received, '')
  // In place of the program of systemd.
  await writeFile(join(path, 'systemd-notify'), `#!/bin/sh\necho "$1" >> ${received}\n`)
  await chmod(join(path, 'systemd-notify'), 0o755)
  const read = async () => (await readFile(received, 'utf8')).trim().split('\n')
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const env = { PATH: `${path}:/usr/bin:/bin`, NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '60000' }
  const manager = new ServiceManager(env, log)
  let isMoving = true
  manager.ready(() => isMoving)
  await until('it beats', async () => (await read()).includes('WATCHDOG=1'))
  expect(await read()).toContain('READY=1')
  isMoving = false
  await until('it says that polling does not move', () => errors.length > 0)
  isMoving = true
  manager.stopping()
  await until('it stops', async () => (await read()).includes('STOPPING=1'))
  expect(errors).toHaveLength(1)
})

test('ServiceManager does nothing without systemd', () => {
  const manager = new ServiceManager({ WATCHDOG_USEC: undefined }, pino({ level: 'silent' }))
  manager.ready(() => true)
  manager.stopping()
})
