/** Starts the service on a full disk: a small file system that the test fills up. */

import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { configFor, createInstallation, shellLauncher, startShure, until, withoutPush } from '../support/app.ts'
import { startWebhookReceiver } from '../support/notifications/webhook-receiver.ts'
import { timeLimit } from '../support/time-limit.ts'
import { password } from '../support/users.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>

/** Returns a launcher that runs these commands and the program, which alone sees the file systems that they mount. */
function mountLauncher(commands: readonly string[]): readonly string[] {
  return ['unshare', '--map-root-user', '--mount', ...shellLauncher(commands.join('; '))]
}

/** Mounts a file system of 4 MB over the data folder, copies the data to it, and fills it up. */
function fullDiskLauncher(installation: Installation): readonly string[] {
  const [data, seed] = [join(installation.path, 'data'), join(installation.path, 'seed')]
  return mountLauncher([
    `cp -a ${data} ${seed}`,
    `mount -t tmpfs -o size=4m,mode=0700 tmpfs ${data}`,
    `cp -a ${seed}/. ${data}`,
    `dd if=/dev/zero of=${data}/filler bs=4k 2>/dev/null || true`,
  ])
}

/** With this size, the file system has the free space that recording requires. */
const largeDisk = '600m'

async function resizeDisk({ path }: Installation, pid: number, size: string): Promise<void> {
  const remount = ['mount', '-o', `remount,size=${size}`, join(path, 'data')]
  await promisify(execFile)('nsenter', ['--target', String(pid), '--user', '--mount', ...remount])
}

/** Returns the data folder as the program sees it. */
function dataFolder({ path }: Installation, pid: number): string {
  return join('/proc', String(pid), 'root', path, 'data')
}

// Reliability: S2.
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
    expect((await service.get('/api/groups/')).json).toMatchObject([{ title: 'Stored' }])
    expect(await service.receivers()).toHaveLength(2)
    const rejected = await service.post('/api/group/', { title: 'Lost' })
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '5'])
    const health = await service.get('/api/health/')
    expect([health.status, health.json.status, health.json.store.status]).toEqual([200, 'degraded', 'not_writable'])
    expect(health.json.manufacturers).toMatchObject([{ code: 'shure' }])
    expect((await service.get('/api/groups/')).json).toHaveLength(1)

    await rm(join(dataFolder(installation, service.pid), 'filler'))
    await resizeDisk(installation, service.pid, largeDisk)
    const freedAt = performance.now()
    await until('health is healthy again', async () => (await service.get('/api/health/')).json.status === 'healthy')
    expect(performance.now() - freedAt).toBeLessThan(timeLimit(10_000))
    expect((await service.post('/api/group/', { title: 'Kept' })).status).toBe(201)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  },
  60_000,
)

/** Starts the service with its data on a file system of its own, which `fill` fills up and `free` empties. */
async function startOnOwnDisk() {
  const shure = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(shure)] })
  const data = join(installation.path, 'data')
  const mount = `mount -t tmpfs -o size=${largeDisk},mode=0700 tmpfs ${data}`
  const service = await installation.serve([], {}, mountLauncher([`mkdir ${data}`, mount]))
  await until('both receivers are known', async () => (await service.receivers()).length === 2)
  await until('health is healthy', async () => (await service.get('/api/health/')).json.status === 'healthy')
  const filler = join(dataFolder(installation, service.pid), 'filler')
  return {
    service,
    async fill() {
      await resizeDisk(installation, service.pid, '8m')
      await writeFile(filler, Buffer.alloc(16_000_000)).catch(({ code }) => expect(code).toBe('ENOSPC'))
    },
    async free() {
      await rm(filler)
      await resizeDisk(installation, service.pid, largeDisk)
    },
  }
}

// Conformance: C-12.104.
it('raises recording_stopped while neither levels nor alerts can be stored, and continues live', async () => {
  const { service, fill, free } = await startOnOwnDisk()
  const socket = await service.socket()
  const announced = (state: string) =>
    socket.next(
      (message) => message.type === 'alert' && message.kind === 'recording_stopped' && message.state === state,
    )
  await fill()
  const { at, message } = await announced('raised')
  expect(message).toMatch(/MB of disk space are free/)
  expect((await service.get('/api/health/')).json.status).toBe('degraded')
  await socket.next((next) => next.type === 'device_update' && next.at > at)

  await free()
  await announced('cleared')
})

// Conformance: C-11.15, C-14.19.
it('lists, acknowledges and sends alerts that a full disk prevents from being stored', async () => {
  const webhook = await startWebhookReceiver()
  const { service, fill, free } = await startOnOwnDisk()
  const { headers, json: session } = await service.post('/api/auth/setup', { username: 'root', password })
  const cookie = (headers['set-cookie'] ?? []).map((text) => text.split(';')[0]).join('; ')
  const admin = { cookie, 'x-csrf-token': session.csrf_token }
  const channel = { name: 'Crew', type: 'webhook', config: { url: webhook.url } }
  const { id } = (await service.post('/api/admin/notification-channels/', channel, admin)).json
  const rule = { name: 'Service', notification_channel_ids: [id], kinds: ['storage_failing', 'recording_stopped'] }
  expect((await service.post('/api/admin/notification-rules/', rule, admin)).status).toBe(201)

  await fill()
  // Alerts about equipment were stored before.
  const list = async (): Promise<AlertBody[]> =>
    (await service.get('/api/alerts/?state=open')).json.filter((alert: AlertBody) => alert.id <= 0)
  await until('recording_stopped is listed', async () => (await list()).some((alert) => alert.id === -1))
  const acknowledged = await service.post('/api/alerts/-1/acknowledge', { note: 'Deleting old files' }, admin)
  expect([acknowledged.status, acknowledged.json]).toMatchObject([200, { id: -1, state: 'acknowledged' }])
  await until('storage_failing is listed', async () => (await list()).some((alert) => alert.id === 0))
  const sent = () => webhook.received.flatMap(({ body }) => body.data.alerts as AlertBody[])
  await until('storage_failing is sent', () => sent().some((alert) => alert.kind === 'storage_failing'))
  expect(sent().find((alert) => alert.kind === 'storage_failing')).toMatchObject({ id: 0, severity: 'critical' })

  await free()
  await until('both have ended', async () => (await list()).length === 0)
  expect(sent().filter((alert) => alert.id === 0)).toHaveLength(1)
})
