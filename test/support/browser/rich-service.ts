/** A service with something on every page: problems, alerts, a show, held discoveries, movements, scans. */

import { startStringsSimulator } from '../../../simulators/shure/strings.ts'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { pages } from '../../../src/domain/pages.ts'
import { configFor, deviceOf, startApp, startSennheiser, type TestApp, until } from '../app.ts'
import { onTestEnd } from '../cleanup.ts'
import { uploadScan } from '../scan-upload.ts'
import { tokenHeaders } from '../tokens.ts'

export async function startRichService() {
  const system = await startSennheiser({ richList: true, receivers: 3, channelsPerReceiver: 4 })
  const device = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => device.close())
  const usual = { transmitter: true, battery: 90, rf_level: -50, audio_level: -20 }
  for (const channel of [1, 2, 3, 4]) device.change(channel, usual)
  device.change(1, { muted: true })
  device.change(2, { battery: 5 })
  device.change(3, { battery: 15, rf_level: -96 })
  const manufacturers = [configFor(system), { code: 'shure', config: { devices: [device.url] } }]
  const config = { listening: true, audio: { interfaces: ['127.0.0.1'] } }
  const app = await startApp({ manufacturers, isRecording: true, config })
  await until('all receivers are known', async () => (await app.receivers()).length === 4)
  // A held discovery, a movement and a lost receiver.
  system.show.add('sennheiser', { ip: deviceOf(system).ip, name: 'Visitor', serial_number: 'VISITOR-1' })
  system.show.set(deviceOf(system, 1).id, { ip: '10.77.0.1' })
  system.show.set(deviceOf(system, 2).id, { online: false })

  const admin = await tokenHeaders(app, 'admin')
  const post = async (path: string, body?: object) => {
    const { status, json } = await app.post(path, body, admin)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  const evening = await addShow(app, post)
  await addLists(app, post)
  await answerAlerts(app, post)
  await until('a discovery is held', async () => (await app.get('/api/summary/', admin)).json.queue_pending > 0)
  const [receiver] = await app.receivers()
  if (receiver === undefined) throw new Error('There is no receiver.')
  return { app, show: evening, receiver: receiver.id, channel: receiver.channels[0]?.id ?? 0 }
}

type Post = (path: string, body?: object) => Promise<{ readonly id: number }>

async function addShow(app: TestApp, post: Post): Promise<number> {
  const slots: { slot: number; channel_id: number }[] = (await app.get('/api/slots/')).json
  const [first, second, third] = slots
  for (const [index, name] of ['Nora Åkerström', 'Ben', 'Ida Lang'].entries()) {
    const fields = { performer_name: name, role: 'Lead', color: 'teal', note: 'Wig' }
    await app.put(`/api/slots/${slots[index]?.slot}/`, { ...fields, spares: [slots.at(-1)?.slot] })
  }
  const group = await post('/api/group/', { title: 'Band', slots: [first?.slot, second?.slot, 60] })
  await post('/api/placeholders/', { slot: 40, kind: 'iem', name: 'IEM Drums', frequency: '518.300' })
  const now = Date.now()
  const [before, after] = [now - 60_000, now + 7_200_000].map((time) => new Date(time).toISOString())
  await post('/api/shows/', { title: 'Matinee', starts_at: after })
  const { id } = await post('/api/shows/', { title: 'Evening', starts_at: before, ends_at: after })
  await post(`/api/shows/${id}/start`)
  await post(`/api/shows/${id}/scenes/`, { title: 'Act 1' })
  await post(`/api/shows/${id}/checks/`, { channel_id: first?.channel_id, result: 'pass', note: null })
  await post(`/api/shows/${id}/checks/`, { channel_id: second?.channel_id, result: 'fail', note: 'Crackles' })
  await post('/api/markers/', { text: 'Overture' })
  await post('/api/silences/', { channels: [third?.channel_id], until: after, reason: 'Understudy' })
  await post('/api/handover/', { note: 'Pack 12 crackles.' })
  await app.put(`/api/slots/${first?.slot}/`, { role: 'Fiyero' })
  await app.put(`/api/groups/${group.id}/`, { title: 'Band and choir' })
  return id
}

async function addLists(app: TestApp, post: Post): Promise<void> {
  await post('/api/performers/', { name: 'Zoë', notes: 'Alto' })
  await post('/api/admin/locations/', { name: 'Rack 1' })
  const stream = { name: 'Stagebox', source: 'manual', address: '239.69.1.2', port: 5004 }
  await post('/api/audio/streams/', { ...stream, encoding: 'L24', sample_rate: 48_000, channels: 8 })
  const config = { url: 'http://127.0.0.1:9/hook' }
  const { id } = await post('/api/admin/notification-channels/', { name: 'Stage', type: 'webhook', config })
  await post('/api/admin/notification-rules/', { name: 'Batteries', notification_channel_ids: [id] })
  const scan = Array.from({ length: 400 }, (_, index) => `${470 + index / 4},${-100 + (index % 40)}`).join('\r\n')
  for (const name of ['foyer.csv', 'hall.csv']) await uploadScan(app, scan, { name })
}

/** Waits for the alerts; acknowledges one and snoozes another. */
async function answerAlerts(app: TestApp, post: Post): Promise<void> {
  const [first, second] = await until('alerts are raised', async () => {
    const alerts: AlertBody[] = (await app.get('/api/alerts/?state=raised')).json
    return alerts.length >= 4 ? alerts : null
  })
  await post(`/api/alerts/${first?.id}/acknowledge`, { note: 'On its way' })
  await post(`/api/alerts/${second?.id}/snooze`, { minutes: 30 })
}

/** The path of every page in the table of the product. Throws for a page of a kind that is not known here. */
export function listPaths(service: Awaited<ReturnType<typeof startRichService>>) {
  const { show, receiver, channel } = service
  const ids: Partial<Record<string, number>> = { channel, receiver, show, report: show, check_report: show }
  return pages.map(({ name, path, needs }) => {
    const id = ids[name]
    if (path.includes(':') && id === undefined) throw new Error(`The page ${name} needs an id.`)
    return { name, path: path.replace(':id', String(id)), isOpenToAll: needs === 'nothing' }
  })
}
