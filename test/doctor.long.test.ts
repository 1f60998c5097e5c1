/** `micwatch doctor`, while the service runs, while it is stopped, and with everything that can be wrong. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { configFor, createInstallation, startSennheiser, startShure, startSystemApi, until } from './support/app.ts'
import { certify } from './support/certificates.ts'
import { onTestEnd } from './support/cleanup.ts'
import { startHostileProvider } from './support/oidc-provider.ts'
import { createEmptyDatabase } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>

interface Report {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean | null; readonly message: string }[]
}

/** Runs the command and returns its report; the exit code must agree with it. */
async function examine(installation: Installation, args: readonly string[] = [], env: Record<string, string> = {}) {
  const result = await installation.run(['doctor', '--json', ...args], env)
  const report = result.json() as Report
  expect([result.code, result.err, report.ok]).toEqual([
    report.ok ? 0 : 1,
    '',
    report.checks.every(({ ok }) => ok === true),
  ])
  const find = (name: string) => {
    const check = report.checks.find((candidate) => candidate.name.startsWith(name))
    return [check?.ok, check?.message]
  }
  return { ...report, find, problems: report.checks.filter(({ ok }) => ok === false).map(({ name }) => name) }
}

const noCheck = [undefined, undefined]
const containing = (text: string) => expect.stringContaining(text)

/** Returns the path, size and time of change of every file in the folder. */
async function listContents(folder: string) {
  const names = (await readdir(folder, { recursive: true })).sort()
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs, mode } = await stat(join(folder, name))
      return [name, size, mtimeMs, mode]
    }),
  )
}

/** Listens on a free port of this machine, and never responds. */
async function listenSilently() {
  const server = createServer().listen(0, '127.0.0.1')
  await until('the server listens', () => server.listening)
  onTestEnd(() => void server.close())
  return (server.address() as { port: number }).port
}

/** Binds a UDP port, as another program does. Services that share a port of this machine are not affected. */
async function bindUdp(address: string, port: number) {
  const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind(port, address)
  await once(socket, 'listening')
  onTestEnd(() => void socket.close())
  return socket.address()
}

describe.concurrent('doctor', () => {
  // Conformance: C-17.70, C-17.71, C-17.72.
  it('finds no problem, whether the service runs or not, and changes nothing', async () => {
    const shure = await startShure()
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const service = await installation.serve()
    await until('the service polls', async () => (await service.receivers()).length === 2)
    const port = ['--port', String(service.port)]
    const running = await examine(installation, port)
    expect(running.problems).toEqual([])
    const source = `source shure:${shure.baseUrl}`
    expect(running.find(source)).toEqual([true, 'It responds and lists 2 devices.'])
    expect(running.find('port')).toEqual([
      true,
      containing(`The service responds at http://127.0.0.1:${service.port}/`),
    ])
    expect(running.find('versions')).toEqual([true, expect.stringMatching(/^Micwatch \d.* Node\.js \d/)])
    expect(running.find('database')).toEqual([true, containing('is intact')])
    expect(running.find('clock')).toEqual([true, containing('agrees')])
    expect(running.find('backup')).toEqual([true, containing('micwatch backup')])
    expect(running.ok).toBe(true)
    const names = running.checks.map(({ name }) => name)
    expect(names).toEqual([
      'versions',
      'configuration',
      'data_folder',
      'disk',
      'port',
      'certificate',
      'multicast',
      'database',
      'backup',
      'clock',
      source,
    ])

    service.kill('SIGTERM')
    await service.ended
    expect((await installation.run(['backup', 'copy.db'])).code).toBe(0)
    const before = await listContents(installation.path)
    const stopped = await examine(installation, port)
    expect([stopped.problems, stopped.find(source)[0]]).toEqual([[], true])
    expect(stopped.find('port')).toEqual([true, containing('the service is not running')])
    expect(stopped.find('backup')).toEqual([true, containing('less than a day ago')])
    expect(await listContents(installation.path)).toEqual(before)
    // Files left by a killed service stay unchanged too, except for SQLite's index of its log.
    const killed = await installation.serve()
    killed.kill('SIGKILL')
    await killed.ended
    const withoutIndex = async () =>
      (await listContents(installation.path)).filter(([name]) => !/-shm$/.test(String(name)))
    const left = await withoutIndex()
    expect((await examine(installation, port)).problems).toEqual([])
    expect(await withoutIndex()).toEqual(left)
    const text = await installation.run(['doctor', ...port])
    expect([text.code, text.err, text.out]).toEqual([
      0,
      '',
      expect.stringMatching(/^ok {7}data folder.*No problem was found/ms),
    ])
  })

  // Conformance: C-17.70.
  it('skips sources and clocks without sources, and asks for a backup after a week', async () => {
    const installation = await createInstallation({})
    const port = ['--port', '0']
    const missing = await examine(installation, port)
    expect(missing.problems).toEqual([])
    expect(missing.find('data_folder')).toEqual([null, containing('does not exist yet')])
    const text = await installation.run(['doctor', ...port])
    expect([text.code, text.out]).toEqual([1, expect.stringMatching(/\n\d checks could not be completed\.\n$/)])
    expect(text.out).not.toContain('No problem was found')

    expect((await installation.run(['migrate'])).code).toBe(0)
    const empty = await examine(installation, port)
    expect([empty.ok, empty.find('clock'), empty.find('redis')]).toEqual([true, noCheck, noCheck])
    expect(empty.find('sources')).toEqual([true, containing('under Admin → Manufacturers')])
    const database = new DatabaseSync(join(installation.path, 'data', 'micwatch.db'))
    database.exec(`update migrations set applied_at = ${Date.now() - 8 * 24 * 3_600_000}`)
    database.close()
    const old = await examine(installation, port)
    expect([old.problems, old.find('backup')]).toEqual([['backup'], [false, containing('Run micwatch backup')]])
  })

  // Conformance: C-26.43.
  it('finds a folder of scheduled backups that cannot be used, and a backup that is overdue', async () => {
    const folder = 'copies'
    const installation = await createInstallation({ backup: { folder } })
    await mkdir(join(installation.path, folder))
    const service = await installation.serve()
    const record = join(installation.path, folder, 'micwatch-backups.json')
    const text = await until('the backup is listed', async () => {
      const content = await readFile(record, 'utf8')
      return JSON.parse(content).backups.length === 1 && content
    })
    service.kill('SIGTERM')
    await service.ended
    const find = async () => (await examine(installation, ['--port', '0'])).find('backup')
    expect(await find()).toEqual([true, containing('The last scheduled backup was written')])
    const old = Date.now() - 3 * 24 * 3_600_000
    await writeFile(record, text.replace(/"at": \d+/, `"at": ${old}`))
    expect(await find()).toEqual([false, containing('another one was due')])
    await writeFile(record, text.replace(/"installation": "\d+"/, '"installation": "1"'))
    expect(await find()).toEqual([false, containing('contains the backups of another installation')])
    await rm(join(installation.path, folder), { recursive: true })
    expect(await find()).toEqual([false, containing('does not exist')])
  })

  // Conformance: C-17.73.
  it('explains why a source cannot be reached, and what to do', async () => {
    const [shure, sennheiser, systemApi] = await Promise.all([
      startShure(),
      startSennheiser({ tls: await certify({ name: '127.0.0.1' }) }),
      startSystemApi({ host: '127.0.79.4', port: 10_000, tls: await certify({ name: '127.0.79.4' }) }),
    ])
    const refused = `http://127.0.0.1:${await freePort()}`
    const silent = `http://127.0.0.1:${await listenSilently()}`
    const entry = (code: string, api_base_url: string, more: object = {}) => ({
      code,
      plugin: 'shure',
      config: { api_base_url, shared_key: 'key', timeout: 20, ...more },
    })
    const installation = await createInstallation({
      manufacturers: [
        entry('refused', refused),
        entry('unresolved', 'https://mics.invalid'),
        entry('silent', silent, { timeout: 2 }),
        entry('untrusted', sennheiser.baseUrl),
        entry('rejected', shure.baseUrl),
        {
          code: 'other',
          plugin: 'sennheiser',
          config: { api_base_url: systemApi.baseUrl, password: 'x', ssl_verify: false },
        },
        { code: 'disabled', plugin: 'shure', api_enabled: false, config: { api_base_url: refused } },
      ],
    })
    const startedAt = performance.now()
    const { find, problems } = await examine(installation, ['--port', '0'])
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(15_000))
    expect(find('source refused')).toEqual([false, containing('Connection refused by 127.0.0.1')])
    expect(find('source unresolved')).toEqual([
      false,
      containing('does not resolve; check the address and the name server'),
    ])
    expect(find('source silent')).toEqual([false, containing('No response from 127.0.0.1')])
    expect(find('source untrusted')).toEqual([false, containing('set ssl_verify: false')])
    expect(find('source rejected')).toEqual([false, containing('check the key or password')])
    expect(find('source other')).toEqual([false, containing('A system of Shure responds at https://127.0.79.4:10000')])
    expect(problems).toHaveLength(6)
  })

  // Conformance: C-17.74.
  it('does not try rejected credentials again while the service runs', async () => {
    const shure = await startShure()
    const entry = configFor(shure, { shared_key: 'wrong' })
    const installation = await createInstallation({ manufacturers: [entry] })
    const service = await installation.serve()
    await until('the credentials are rejected', async () =>
      /credentials rejected/.test((await service.get('/api/health/')).bytes.toString()),
    )
    const rejected = () =>
      shure.requests.entries.filter(
        ({ refusal }) => refusal !== null && refusal !== undefined && refusal !== 'no-credentials',
      ).length
    const before = rejected()
    const { find } = await examine(installation, ['--port', String(service.port)])
    expect(find('source shure')).toEqual([false, containing('Credentials rejected by')])
    expect(rejected()).toBe(before)
  })

  // Conformance: C-17.75, C-17.88.
  it('finds problems with the files, the port and the clock', async () => {
    const late = createHttpServer((_request, response) => {
      response
        .setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
        .writeHead(404)
        .end()
    }).listen(0, '127.0.0.1')
    await until('the server listens', () => late.listening)
    onTestEnd(() => void late.close())
    const { port } = late.address() as { port: number }
    const config = {
      manufacturers: [
        { code: 'shure', config: { api_base_url: `http://127.0.0.1:${port}`, shared_key: 'key' } },
        { code: 'sennheiser', config: { devices: ['mcp://127.0.93.1'] } },
      ],
      osc: { listen: `127.0.0.1:${(await bindUdp('127.0.0.1', 0)).port}` },
    }
    await bindUdp('127.0.93.2', 53_212)
    const installation = await createInstallation(config)
    expect((await installation.run(['migrate'])).code).toBe(0)
    const expired = await certify({ name: 'mics.example', expiresAt: Date.now() - 3 * 24 * 3_600_000 })
    const valid = await certify({ name: 'mics.example', expiresAt: Date.now() + 20 * 24 * 3_600_000 })
    await Promise.all([
      installation.write('expired.crt', expired.cert),
      installation.write('expired.key', expired.key),
      installation.write('valid.crt', valid.cert),
      installation.write('valid.key', valid.key),
    ])
    const withTls = (name: string) => ({
      ...config,
      server: { port, allowed_hosts: ['mics.example', 'wall.example'] },
      tls: { cert: `${name}.crt`, key: `${name}.key` },
    })
    const data = (name: string) => join(installation.path, 'data', name)
    await installation.write('micwatch.yaml', JSON.stringify(withTls('expired')))
    await writeFile(data('secret.key'), 'a'.repeat(64), { mode: 0o600 })
    await chmod(data('secret.key'), 0o644)
    const database = await readFile(data('micwatch.db'))
    await truncate(data('micwatch.db'), Math.floor(database.length / 2))
    const first = await examine(installation)
    expect(first.find('port')).toEqual([false, containing('is in use by another program')])
    expect(first.find('certificate')).toEqual([false, expect.stringMatching(/expired\.crt expired on .*Renew it/)])
    expect(first.find('data_folder')).toEqual([false, expect.stringMatching(/secret\.key.*chmod/)])
    expect(first.find('database')).toEqual([false, containing('is damaged')])
    expect(first.find('clock')).toEqual([
      false,
      expect.stringMatching(/is 36\d\d s ahead of the clock of 127\.0\.0\.1/),
    ])
    expect(first.find('osc')).toEqual([false, expect.stringMatching(/is in use by another program.*osc\.listen/)])
    expect(first.find('mcp_port')).toEqual([false, containing('UDP port 53212 is in use by another program')])
    // A damaged database does not hide the sources of the configuration.
    expect(first.find('source shure')[0]).toBe(false)

    await writeFile(data('micwatch.db'), database)
    await chmod(data('secret.key'), 0o600)
    const snapshot = join(data('snapshots'), 'micwatch-20260101T000000.000Z.db')
    await mkdir(data('snapshots'), { recursive: true })
    await writeFile(snapshot, '', { mode: 0o644 })
    await installation.write('micwatch.yaml', JSON.stringify(withTls('valid')))
    const second = await examine(installation)
    expect(second.find('certificate')).toEqual([false, containing('is not valid for wall.example')])
    expect(second.find('database')[0]).toBe(true)
    expect(second.find('data_folder')).toEqual([false, containing(`Other users can read ${snapshot}`)])
  })

  // Conformance: C-1.23, C-1.25, C-17.76.
  it('reports an invalid configuration, and rejects wrong flags', async () => {
    const installation = await createInstallation({ server: { prot: 1 } })
    const { find, problems } = await examine(installation)
    expect(problems).toEqual(['configuration'])
    expect(find('configuration')[1]).toMatch(
      /corrected\. micwatch\.yaml: server\.prot: unknown key; did you mean port\?$/,
    )
    // The service has secrets in its environment that this command does not have.
    const text =
      'manufacturers: [{code: shure, config: {api_base_url: "http://127.0.0.1:9", shared_key: "$' + '{ABSENT}"}}]'
    await installation.write('micwatch.yaml', text)
    expect((await examine(installation)).find('configuration')).toEqual([null, containing('ABSENT is not set')])
    await installation.write('service.env', '# Secrets\nABSENT="a # b"\nMICWATCH_PROT=1\n')
    const { out, err } = await installation.run(['doctor', '--json'], { MICWATCH_ENVIRONMENT_FILE: 'service.env' })
    const message = 'MICWATCH_PROT has no effect, because there is no such variable; did you mean MICWATCH_PORT?'
    expect(err).toBe(`micwatch: warning: ${message}\n`)
    expect(JSON.parse(out).checks[1]).toEqual({
      name: 'configuration',
      ok: true,
      message: `micwatch.yaml is valid. Warning: ${message}`,
    })
    for (const args of [['--nothing'], ['--port', 'high'], ['surplus'], ['--config', 'none.yaml']]) {
      const { code, out, err } = await installation.run(['doctor', ...args])
      expect([args, code, out, err.trim().split('\n').length]).toEqual([args, 2, '', 1])
    }
  })

  // Conformance: C-17.77.
  it('checks PostgreSQL and Redis', async () => {
    const { url, drop } = await createEmptyDatabase('postgres')
    onTestEnd(drop)
    const redis_url = `redis://127.0.0.1:${await freePort()}`
    const installation = await createInstallation({ database_url: url, redis_url })
    expect((await examine(installation, ['--port', '0'])).find('database')).toEqual([null, containing('is empty')])
    expect((await installation.run(['migrate'])).code).toBe(0)
    const { find, problems } = await examine(installation, ['--port', '0'])
    expect([find('database'), problems]).toEqual([[true, containing('PostgreSQL responds')], ['redis']])
    expect(find('redis')[1]).toMatch(/ECONNREFUSED.*Check redis_url/)
    const nobody = `postgres://nobody@127.0.0.1:${await freePort()}/none`
    const stopped = await examine(installation, ['--port', '0', '--database-url', nobody])
    expect(stopped.find('database')).toEqual([false, containing('Check database_url')])
  })

  // Conformance: C-16.95.
  it('checks the provider for single sign-on', async () => {
    const hostile = await startHostileProvider()
    const oidc = { issuer: hostile.issuer, client_id: 'micwatch', roles: { crew: 'operator' } }
    const installation = await createInstallation({ oidc })
    const findProvider = async () => (await examine(installation, ['--port', '0'])).find('single_sign_on')
    expect(await findProvider()).toEqual([true, containing('responds, and its clock agrees')])
    hostile.aheadMs = 3_600_000
    const [isPassed, text] = await findProvider()
    expect([isPassed, text]).toEqual([
      false,
      expect.stringMatching(/this machine is 3\d\d\d s behind the clock of 127/),
    ])
    await hostile.stop()
    expect(await findProvider()).toEqual([false, containing('connection refused by 127.0.0.1')])
  })
})
