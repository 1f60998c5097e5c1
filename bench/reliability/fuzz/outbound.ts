/** Requests of the service itself: changed addresses of secrets, and destinations that it must not reach. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AtEnd } from '../../harness.ts'
import { addProblem, count, type FuzzReport } from './report.ts'
import type { Attack } from './shares.ts'

type Respond = (path: string) => object

/** Starts a server that records everything it receives. */
async function startRecorder(atEnd: AtEnd, respond: Respond = () => ({})) {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(respond(request.url?.split('?')[0] ?? '')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  return { requests, port: (server.address() as AddressInfo).port }
}

const stored = 'http://127.0.0.1:9'
const secret = 'the-stored-secret'

/** Changes the address of stored secrets in every way. None may be sent there. */
export async function trySecrets(report: FuzzReport, { service, admin }: Attack, atEnd: AtEnd): Promise<void> {
  const { requests, port } = await startRecorder(atEnd)
  const send = (method: string, path: string, body: object) => {
    const headers = { 'content-type': 'application/json', ...admin }
    return service.send(method, path, { headers, body: JSON.stringify(body) })
  }
  const config = { api_base_url: stored, shared_key: secret, devices: ['http://127.0.0.1:19'] }
  await send('POST', '/api/admin/manufacturers/', { code: 'moved', plugin: 'shure', config })
  const channel = { name: 'g', type: 'gotify', config: { url: stored, token: secret } }
  const { id } = (await send('POST', '/api/admin/notification-channels/', channel)).json
  const hosts = ['127.0.0.1', 'localhost', '127.1', '2130706433', '[::ffff:127.0.0.1]', '0x7f.0.0.1']
  for (const address of hosts.flatMap((host) => [`http://${host}:${port}`, `HTTP://${host}:${port}/a/..`])) {
    const socket = address.replace(/^http/i, 'ws')
    const changes = [
      { api_base_url: address },
      { BASE_URL: address, api_base_url: null },
      { api_base_url: address, shared_key: '********' },
      { devices: [address] },
      { devices: [{ url: address, password: '********' }] },
      { websocket_url: socket, websocket_other_host: true },
    ]
    const sent = [
      ...changes.map((change) => ['PATCH', '/api/admin/manufacturers/moved/', { config: change }] as const),
      ...changes.map((change) => ['POST', '/api/admin/manufacturers/test', { code: 'moved', config: change }] as const),
      ['PATCH', `/api/admin/notification-channels/${id}/`, { config: { url: address } }] as const,
      ['PATCH', `/api/admin/notification-channels/${id}/`, { config: { url: address, token: '********' } }] as const,
    ]
    for (const [method, path, body] of sent) {
      const { status } = await send(method, path, body)
      count(report, `moved secret ${status}`)
      if (status !== 400) addProblem(report, `${method} ${path} ${JSON.stringify(body)} returned ${status}`)
    }
    await service.post(`/api/admin/notification-channels/${id}/test`, {}, admin)
  }
  await sleep(300)
  const leaked = requests.filter((request) => request.includes(secret))
  for (const request of leaked) addProblem(report, `a stored secret was sent to another address: ${request}`)
  await send('DELETE', '/api/admin/manufacturers/moved/', {})
}

const forbidden = [
  ...['169.254.169.254', '169.254.170.2', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '168.63.129.16'],
  ...['192.0.0.192', '[fd00:ec2::254]', '[fd20:ce::254]', '[::ffff:169.254.169.254]', '[fe80::5efe:a9fe:a9fe]'],
  ...['[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::1]', '224.0.0.1', '[ff02::1]'],
]

/** Enters destinations that the service never sends to in every setting that contains an address. */
export async function tryDestinations(report: FuzzReport, { service, admin }: Attack): Promise<void> {
  const own = new URL(service.address).host
  for (const host of [...forbidden, own]) {
    const address = `http://${host}`
    const bodies = [
      ['/api/admin/notification-channels/', { name: 'w', type: 'webhook', config: { url: `${address}/hook` } }],
      ['/api/admin/notification-channels/', { name: 'm', type: 'ntfy', config: { url: address, topic: 'rf' } }],
      ['/api/admin/manufacturers/', { code: 'bad', plugin: 'shure', config: { api_base_url: address } }],
      ['/api/admin/manufacturers/', { code: 'bad', plugin: 'micwatch', config: { api_base_url: address } }],
      ['/api/admin/manufacturers/test', { plugin: 'sennheiser', config: { devices: [address] } }],
    ] as const
    for (const [path, body] of bodies) {
      const { status, bytes } = await service.post(path, body, admin)
      count(report, `destination ${status}`)
      if (status !== 400) addProblem(report, `${path} ${JSON.stringify(body)} returned ${status}: ${bytes}`)
    }
  }
}

/** Starts a Planning Center whose plan names a photo of an internal service. */
export async function startHostilePlan(atEnd: AtEnd) {
  const internal = await startRecorder(atEnd)
  const photo = `http://127.0.0.1:${internal.port}/reboot?confirm=1`
  const startsAt = new Date(Date.now() + 3_600_000).toISOString()
  const person = { name: 'Bo', team_position_name: 'Vox 1', status: 'C', photo_thumbnail: photo }
  const services = { service_times: { data: [{ id: 't1' }] } }
  const { port } = await startRecorder(atEnd, (path) => {
    if (/service_types\/1$/.test(path)) return { data: { type: 'ServiceType', id: '1', attributes: { name: 'S' } } }
    if (/plans$/.test(path)) return { data: [{ id: '5', attributes: { title: 'P', dates: 'x' } }] }
    const time = { name: 'x', starts_at: startsAt, time_type: 'service' }
    if (/plan_times$/.test(path)) return { data: [{ id: 't1', attributes: time }] }
    if (/team_members$/.test(path))
      return { data: [{ id: 'm1', attributes: person, relationships: services }], included: [] }
    return { data: [] }
  })
  return { url: `http://127.0.0.1:${port}`, requests: internal.requests }
}

/** Imports the plan; the service must not load its photo. */
export async function tryPhotos(
  report: FuzzReport,
  { service, admin }: Attack,
  requests: readonly string[],
): Promise<void> {
  const channels = [{ channel: 1, rf_level: -50, transmitter: { name: 'Bo' } }]
  await service.post('/api/ingest/', { source: 'x', receivers: [{ api_device_id: 'a', channels }] }, admin)
  const body = { token: 'a:b', service_type: '1', positions: { 'Vox 1': 1 }, preview: true }
  const { status } = await service.post('/api/import/planning-center/', body, admin)
  count(report, `plan ${status}`)
  for (const request of requests) addProblem(report, `a plan caused the request ${request}`)
}
