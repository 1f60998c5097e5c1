/** Starts the service on a full disk: a small file system that the test fills up. */

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { AlertBody } from '../../src/contract/resources/alerts.ts'
import { configFor, createInstallation, shellLauncher, startShure, type TestApp, until, withoutPush } from '../app.ts'
import { timeLimit } from '../time-limit.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>

/**
 * Returns a launcher that mounts a file system of 4 MB over the data folder, copies the data to it, fills it up, and
 * runs the program. Only the program sees this file system.
 */
function fullDiskLauncher(installation: Installation): readonly string[] {
  const [data, seed] = [join(installation.path, 'data'), join(installation.path, 'seed')]
  return [
    'unshare',
    '--map-root-user',
    '--mount',
    ...shellLauncher(
      [
        `cp -a ${data} ${seed}`,
        `mount -t tmpfs -o size=4m,mode=0700 tmpfs ${data}`,
        `cp -a ${seed}/. ${data}`,
        `dd if=/dev/zero of=${data}/filler bs=4k 2>/dev/null || true`,
      ].join('; '),
    ),
  ]
}

/** Returns the alert `recording_stopped` as the live interface shows it. */
async function findRecordingAlert({ socket }: Pick<TestApp, 'socket'>) {
  const { next, close } = await socket('/ws?protocol=2')
  const { data } = await next(({ type }) => type === 'snapshot')
  close()
  const alerts = (data as { alerts: readonly AlertBody[] }).alerts
  return alerts.find(({ kind }) => kind === 'recording_stopped')
}

/** Enlarges the file system, so that it has the free space that recording requires. */
async function enlargeDisk({ path }: Installation, pid: number): Promise<void> {
  const remount = ['mount', '-o', 'remount,size=600m', join(path, 'data')]
  await promisify(execFile)('nsenter', ['--target', String(pid), '--user', '--mount', ...remount])
}

// Reliability: S2.
// Conformance: C-12.24.
it.each(['stopped cleanly', 'killed'])(
  'starts on a full disk after it was %s, and recovers',
  async (stopMode) => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const first = await installation.serve()
    await until('both receivers are known', async () => (await first.receivers()).length === 2)
    expect((await first.post('/api/group/', { title: 'Stored' })).status).toBe(201)
    first.kill(stopMode === 'killed' ? 'SIGKILL' : 'SIGTERM')
    await first.ended

    const service = await installation.serve([], {}, fullDiskLauncher(installation))
    const disk = join('/proc', String(service.pid), 'root', installation.path, 'data')
    expect((await service.get('/api/groups/')).json).toMatchObject([{ title: 'Stored' }])
    expect(await service.receivers()).toHaveLength(2)
    const rejected = await service.post('/api/group/', { title: 'Lost' })
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '5'])
    const health = await service.get('/api/health/')
    expect([health.status, health.json.status, health.json.store.status]).toEqual([200, 'degraded', 'not_writable'])
    expect(health.json.manufacturers).toMatchObject([{ code: 'shure' }])
    expect((await service.get('/api/groups/')).json).toHaveLength(1)
    // The alert cannot be stored either.
    expect(await until('recording has stopped', () => findRecordingAlert(service))).toMatchObject({
      id: -1,
      state: 'raised',
      severity: 'warning',
    })
    const { json: degraded } = await service.get('/api/health/')
    expect(degraded.details).toContainEqual(expect.stringMatching(/^Levels are not recorded: .*MB are required/))

    await rm(join(disk, 'filler'))
    await enlargeDisk(installation, service.pid)
    const freedAt = performance.now()
    await until('health is healthy again', async () => (await service.get('/api/health/')).json.status === 'healthy')
    expect(performance.now() - freedAt).toBeLessThan(timeLimit(10_000))
    expect((await service.post('/api/group/', { title: 'Kept' })).status).toBe(201)
    expect(await findRecordingAlert(service)).toBeUndefined()
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  },
  60_000,
)
