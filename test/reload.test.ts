/** A running service reloads its configuration at SIGHUP. */

import { describe, expect, it } from 'vitest'
import type { ServiceHealth } from '../src/domain/equipment/health.ts'
import { configFor, createInstallation, startSennheiser, startShure, until } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>
type Service = ReturnType<Installation['start']>

interface LogRecord {
  readonly msg: string
  readonly error?: string
  readonly applied?: readonly string[]
  readonly need_restart?: readonly string[]
}

/** Writes another configuration, sends SIGHUP, and returns the record that the service then logs. */
async function reload(installation: Installation, service: Service, config: object | string) {
  const before = service.err().length
  await installation.write('micwatch.yaml', typeof config === 'string' ? config : JSON.stringify(config))
  service.kill('SIGHUP')
  return until('the reload is logged', () => {
    const lines = service.err().slice(before).split('\n').slice(0, -1)
    const records = lines.map((line) => JSON.parse(line) as LogRecord)
    return records.find(({ msg }) => msg.startsWith('SIGHUP received'))
  })
}

describe.concurrent('SIGHUP', () => {
  // Conformance: C-17.60, C-17.61, C-17.62.
  it('applies supported changes, names the rest, and keeps other sources connected', async () => {
    const [shure, sennheiser] = await Promise.all([startShure(), startSennheiser()])
    const kept = configFor(shure)
    const installation = await createInstallation({ log: 'error', manufacturers: [kept] })
    const service = await installation.serve()
    await until('the service subscribes', () => shure.push.connections === 1)
    const upgrades = () => shure.requests.count(/ws/)
    const upgradesBefore = upgrades()
    const socket = await service.socket()
    const scan = () => service.post('/api/discover/', { scan_subnet: '127.0.77.0/30' })
    const forwarded = { 'x-forwarded-proto': 'invalid' }
    expect((await service.get('/healthz', { host: 'mics.example' })).status).toBe(421)
    expect((await scan()).status).toBe(400)
    expect((await service.get('/readyz', forwarded)).status).toBe(401)

    const changed = {
      server: { allowed_hosts: ['mics.example'], trusted_proxies: ['127.0.0.0/8'], drain_seconds: 1 },
      log: 'info',
      public_read: true,
      rate_limit: { max_requests: 777, window_seconds: 1 },
      settings: { DEFAULT_POLLING_INTERVAL: 33, WEBSOCKET_BROADCASTING: true },
      discovery_ranges: ['127.0.77.0/24'],
      manufacturers: [kept, configFor(sennheiser)],
    }
    const record = await reload(installation, service, changed)
    expect(record.applied?.toSorted()).toEqual([
      'discovery_ranges',
      'log',
      'manufacturers',
      'rate_limit.max_requests',
      'rate_limit.overrides.POST /api/discover/.max_requests',
      'rate_limit.overrides.POST /api/discover/.window_seconds',
      'server.allowed_hosts',
      'server.trusted_proxies',
      'settings.DEFAULT_POLLING_INTERVAL',
    ])
    expect(record.need_restart).toEqual(['server.drain_seconds', 'public_read'])

    expect((await service.get('/healthz', { host: 'mics.example' })).status).toBe(200)
    expect((await service.get('/readyz', forwarded)).status).toBe(400)
    expect((await service.get('/api/health/')).headers['x-ratelimit-limit']).toBe('777')
    expect((await service.get('/api/config/')).json.polling_interval).toBe(33)
    expect((await scan()).status).toBe(200)
    await until('the new system is monitored', async () => (await service.receivers()).length === 4)
    // The other source keeps its connection and goes on reporting.
    const seen = socket.ofType('device_update').length
    await until('a change arrives', () => socket.ofType('device_update').length > seen)
    expect([shure.push.connections, upgrades()]).toEqual([1, upgradesBefore])

    // What needs a restart is named again; what was applied is not.
    const again = await reload(installation, service, changed)
    expect([again.applied, again.need_restart]).toEqual([[], ['server.drain_seconds', 'public_read']])
  })

  // Conformance: C-17.63.
  it('changes nothing if the file is wrong, and logs the file, the key or line, and the reason', async () => {
    const shure = await startShure()
    const valid = { manufacturers: [configFor(shure)], settings: { DEFAULT_POLLING_INTERVAL: 12 } }
    const installation = await createInstallation(valid)
    const service = await installation.serve()
    await until('the service subscribes', () => shure.push.connections === 1)
    const also = { server: { allowed_hosts: ['mics.example'] }, settings: { DEFAULT_POLLING_INTERVAL: 44 } }
    for (const [config, message] of [
      [{ ...also, server: { ...also.server, prot: 1 } }, /^micwatch\.yaml: server\.prot: unknown key/],
      ['server:\n  allowed_hosts: [mics.example]\n port: 1', /^micwatch\.yaml: not valid YAML: .*line 3/],
      [
        { ...also, rate_limit: { overrides: { 'GET /nothing': { max_requests: 1, window_seconds: 1 } } } },
        /rate_limit\.overrides: .*GET \/nothing/,
      ],
      [{ ...also, manufacturers: [{ code: 'acme' }] }, /micwatch\.yaml: manufacturers\.0\.plugin: .*acme/],
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax
        { ...also, manufacturers: [{ code: 'shure', config: { shared_key: '${ABSENT}' } }] },
        /manufacturers\.0\.config\.shared_key: .*ABSENT is not set/,
      ],
    ] as const) {
      expect((await reload(installation, service, config)).error).toMatch(message)
      expect((await service.get('/healthz', { host: 'mics.example' })).status).toBe(421)
      expect((await service.get('/api/config/')).json.polling_interval).toBe(12)
    }
    expect(shure.push.connections).toBe(1)
  })

  // Conformance: C-17.89.
  it('applies the changes to poll_devices too', async () => {
    const [shure, sennheiser] = await Promise.all([startShure(), startSennheiser()])
    const rate_limit = { max_requests: 1_000_000, window_seconds: 1 }
    const installation = await createInstallation({ rate_limit, manufacturers: [configFor(shure)] })
    const poller = installation.start(['poll_devices'])
    await until('the poller polls', () => /^\S+ shure: 2 devices/m.test(poller.out()))
    const manufacturers = [configFor(shure), configFor(sennheiser)]
    const record = await reload(installation, poller, { rate_limit, log: 'info', public_read: true, manufacturers })
    // Before the reload, only errors were logged.
    expect(record).toMatchObject({ applied: ['log', 'manufacturers'], need_restart: ['public_read'] })
    await until('the new system is polled', () => /^\S+ sennheiser: 2 devices/m.test(poller.out()))
    poller.kill('SIGTERM')
    expect(await poller.ended).toBe(0)
  })

  // Conformance: C-17.90.
  it('names the host names for which the self-signed certificate is not valid', async () => {
    const installation = await createInstallation({ tls: 'auto', server: { allowed_hosts: ['first.example'] } })
    const service = await installation.serve()
    expect(service.err()).not.toContain('is not valid for these names')
    const hosts = ['first.example', 'second.example']
    await reload(installation, service, { tls: 'auto', server: { allowed_hosts: hosts } })
    const line = service
      .err()
      .split('\n')
      .find((text) => text.includes('is not valid for these names'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ names: ['second.example'] })
  })

  // Conformance: C-17.64.
  it('applies changed entries of manufacturers, and leaves unchanged ones as they were edited', async () => {
    const [shure, sennheiser] = await Promise.all([startShure(), startSennheiser()])
    const entries = [configFor(shure), configFor(sennheiser)] as const
    const rate_limit = { max_requests: 1_000_000, window_seconds: 1 }
    const installation = await createInstallation({ rate_limit, manufacturers: entries })
    const service = await installation.serve()
    const admin = await tokenHeaders(installation, 'admin')
    const namesAndStates = async () => {
      const { manufacturers } = (await service.get('/api/health/')).json as ServiceHealth
      return manufacturers.map(({ name, status }) => `${name}: ${status}`).toSorted()
    }
    const showsOnly = (...expected: string[]) =>
      until(expected.join(), async () => String(await namesAndStates()) === String(expected))
    await showsOnly('Sennheiser: healthy', 'Shure: healthy')
    const body = JSON.stringify({ name: 'Rental' })
    const headers = { ...admin, 'content-type': 'application/json' }
    expect((await service.send('PATCH', '/api/admin/manufacturers/sennheiser/', { headers, body })).status).toBe(200)

    const broken = { ...entries[0], config: { ...entries[0].config, shared_key: 'wrong' } }
    await reload(installation, service, { rate_limit, manufacturers: [broken, entries[1]] })
    await showsOnly('Rental: healthy', 'Shure: degraded')
    await reload(installation, service, {
      rate_limit,
      manufacturers: [{ ...entries[0], name: 'Stage left' }, entries[1]],
    })
    await showsOnly('Rental: healthy', 'Stage left: healthy')
  })

  // Reliability: 3.8.6.
  it('does not send a secret from the database to an address that the file has changed', async () => {
    const [shure, other] = await Promise.all([startShure(), startShure()])
    const { shared_key, ...config }: Record<string, unknown> = configFor(shure).config
    const entry = { code: 'shure', config }
    const installation = await createInstallation({ manufacturers: [entry] })
    const service = await installation.serve()
    const headers = { ...(await tokenHeaders(installation, 'admin')), 'content-type': 'application/json' }
    const body = JSON.stringify({ config: { shared_key } })
    expect((await service.send('PATCH', '/api/admin/manufacturers/shure/', { headers, body })).status).toBe(200)
    const { api_base_url }: Record<string, unknown> = configFor(other).config
    await reload(installation, service, { manufacturers: [{ ...entry, config: { ...config, api_base_url } }] })
    await until('the secret is removed', () => service.err().includes('the stored secrets no longer apply'))
    const [stored] = (await service.send('GET', '/api/admin/manufacturers/', { headers })).json
    expect([stored.config.api_base_url, stored.config.shared_key]).toEqual([api_base_url, undefined])
  })
})
