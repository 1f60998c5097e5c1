import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { LogTail } from '../src/platform/log-tail.ts'
import { configFor, createInstallation, startApp, startShure, until } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

const secrets = {
  sharedKey: 'shared-key-71',
  tenant: 'tenant-72',
  broker: 'broker-password-73',
  client: 'client-secret-74',
  webhook: 'webhook-key-75',
  heartbeat: 'heartbeat-76',
  account: 'a fine long password',
}
const names = {
  installation: 'Große Oper',
  manufacturer: 'Funk im Keller',
  provider: 'Anmeldung Haus',
  performer: 'Anne-Marie (Alt) [2]',
  placeholder: 'Wotan',
  show: 'Hauptprobe',
  location: 'Kellergeschoss',
  user: 'inspizientin',
  notifications: 'Abendspielleitung',
}
const closed = '127.0.0.1:9'

/** Enters a secret and a name wherever that is possible, and logs some of them. */
async function startEnteredApp() {
  const shure = await startShure({ receivers: 1, sharedKey: secrets.sharedKey })
  const lines = new LogTail()
  const log = pino({ level: 'info' }, { write: (line) => lines.add(line) })
  const app = await startApp({
    log,
    recentLog: () => lines.lines,
    manufacturers: [{ ...configFor(shure), name: names.manufacturer }, { code: 'sennheiser' }],
    config: {
      server: { name: names.installation, public_url: 'http://127.0.0.1' },
      oidc: {
        issuer: `http://${closed}/`,
        client_id: 'x',
        client_secret: secrets.client,
        label: names.provider,
        role_claim: 'groups',
        roles: { crew: 'admin' },
      },
      heartbeat: { url: `http://${closed}/ping/${secrets.heartbeat}` },
      mqtt: { url: `mqtt://stage:${secrets.broker}@${closed}` },
      history_remote_write: { url: `http://${closed}/write`, headers: { 'X-Tenant': secrets.tenant } },
    },
  })
  const headers = await tokenHeaders(app, 'admin')
  const post = async (path: string, body: object) => {
    const { status, json } = await app.post(path, body, headers)
    expect([path, status, json]).toEqual([path, 201, expect.anything()])
  }
  await until('the receiver is listed', async () => (await app.receivers()).length === 1)
  await post('/api/performers/', { name: names.performer })
  await post('/api/placeholders/', { slot: 7, kind: 'wired', name: names.placeholder })
  await post('/api/shows/', { title: names.show })
  await post('/api/admin/locations/', { name: names.location })
  await post('/api/admin/users/', { username: names.user, password: secrets.account, role: 'viewer' })
  const url = `http://${closed}/${secrets.webhook}`
  await post('/api/admin/notification-channels/', { name: names.notifications, type: 'webhook', config: { url } })
  log.warn({ error: `${names.performer} at ${url}` }, `subscription: ${names.placeholder} refused ${secrets.sharedKey}`)
  return { app, headers, shure }
}

function findIn(text: string, values: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(values).filter((value) => text.toLowerCase().includes(value.toLowerCase()))
}

// Conformance: C-26.26.
it('the support bundle has no secret, and no name unless it is requested', async () => {
  const { app, headers } = await startEnteredApp()
  const path = '/api/admin/support-bundle.json'
  const response = await app.get(path, headers)
  expect(response.status).toBe(200)
  expect(response.headers['content-disposition']).toBe('attachment; filename="micwatch-support.json"')
  const text = response.bytes.toString()
  const [receiver] = await app.receivers()
  const channel = receiver?.channels[0]?.name
  expect(channel).toMatch(/\p{L}/u)
  expect(findIn(text, secrets)).toEqual([])
  expect(findIn(text, { ...names, channel: String(channel) })).toEqual([])
  const bundle = response.json
  expect(bundle).toMatchObject({
    with_names: false,
    version: { version: expect.any(String) },
    system: { platform: process.platform },
    configuration: {
      file: { mqtt: { password: '********' } },
      manufacturers: expect.arrayContaining([expect.objectContaining({ code: 'sennheiser' })]),
    },
    health: { status: expect.any(String), store: { status: 'healthy' } },
    metrics: expect.stringContaining('micwatch_build_info'),
    database: { schema: expect.any(String), tables: { performers: 1, users: 1 } },
    connections: [{ manufacturer: 'shure' }],
  })
  expect(bundle.log).toContainEqual({ time: expect.any(Number), level: 40, msg: 'subscription' })

  const named = (await app.get(`${path}?names=1`, headers)).bytes.toString()
  expect(findIn(named, secrets)).toEqual([])
  expect(findIn(named, names)).toEqual(expect.arrayContaining([names.installation, names.performer, names.placeholder]))
  const audit = (await app.get('/api/admin/audit/?action=support_bundle.', headers)).json
  expect(audit.map(({ details }: { details: object }) => details)).toEqual([
    { with_names: true },
    { with_names: false },
  ])
  expect((await app.get(path, await tokenHeaders(app, 'operator'))).status).toBe(403)
})

// Conformance: C-26.26.
it('micwatch support bundle writes it to a file, with and without a running service', async () => {
  const installation = await createInstallation({ server: { name: names.installation } })
  const early = await installation.run(['support', 'bundle'])
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('There is no database at')])
  const service = await installation.serve(['--no-poll'])
  await service.post('/api/performers/', { name: names.performer })
  const read = async (file: string) => readFile(join(installation.path, file), 'utf8')

  const written = await installation.run(['support', 'bundle', 'facts.json', '--port', String(service.port), '--json'])
  expect(written.code).toBe(0)
  expect(written.json()).toMatchObject({ file: 'facts.json', with_names: false })
  const facts = await read('facts.json')
  expect(findIn(facts, names)).toEqual([])
  expect(JSON.parse(facts).metrics).toContain('micwatch_build_info')

  service.kill('SIGTERM')
  await service.ended
  const stopped = await installation.run(['support', 'bundle', '--with-names'])
  expect([stopped.code, stopped.err]).toEqual([0, expect.stringContaining('metrics')])
  const bundle = JSON.parse(await read('micwatch-support.json'))
  expect(bundle).toMatchObject({ with_names: true, metrics: null, database: { tables: { performers: 1 } } })
  expect(bundle.configuration.file.server.name).toBe(names.installation)
})
