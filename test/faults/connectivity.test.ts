/** Faults between the service and a system: certificates, host names, IP addresses, a network that drops packets. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFor, createInstallation, startApp, startShure, until, withoutPush } from '../support/app.ts'
import { certify } from '../support/certificates.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { startNetwork } from '../support/faults/network.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { timeLimit } from '../support/time-limit.ts'

describe.concurrent('a certificate', () => {
  // Reliability: 1.11, U24.
  it('that is expired, self-signed or for another name prevents credentials from being sent; without verification it is accepted with a warning', async () => {
    const ca = await certify({ name: 'Stage CA', isCa: true })
    const certificates = {
      right: await certify({ name: '127.0.0.1', ca }),
      expired: await certify({ name: '127.0.0.1', ca, expiresAt: Date.now() - 1000 }),
      elsewhere: await certify({ name: 'another.example', ca }),
      'self-signed': await certify({ name: '127.0.0.1' }),
      unverified: await certify({ name: '127.0.0.1' }),
    }
    const systems = new Map<string, Awaited<ReturnType<typeof startShure>>>()
    for (const [index, [kind, tls]] of Object.entries(certificates).entries()) {
      systems.set(kind, withoutPush(await startShure({ tls, seed: index + 1, receivers: 1 })))
    }
    const manufacturers = [...systems].map(([code, system]) => ({
      ...configFor(system, { ssl_verify: code !== 'unverified' }),
      code,
      plugin: 'shure',
    }))
    const installation = await createInstallation({ manufacturers })
    await installation.write('ca.pem', ca.cert)
    const service = await installation.serve([], { NODE_EXTRA_CA_CERTS: join(installation.path, 'ca.pem') })
    const healthOf = async (code: string) => (await service.get(`/api/health/?manufacturer=${code}`)).json.vendor_api
    for (const kind of ['expired', 'elsewhere', 'self-signed']) {
      const { error } = await until(`${kind} has failed`, async () => {
        const current = await healthOf(kind)
        return current.consecutive_failures > 1 && current
      })
      expect([kind, error]).toEqual([kind, expect.stringMatching(/^certificate of .* not accepted/)])
      expect([kind, systems.get(kind)?.requests.total]).toEqual([kind, 0])
    }
    for (const kind of ['right', 'unverified']) {
      await until(`${kind} is polled`, () => (systems.get(kind)?.requests.count('/api/v1/devices') ?? 0) > 1)
      const { details } = await until(`${kind} is healthy`, async () => {
        const current = await healthOf(kind)
        return current.status === 'healthy' && current
      })
      const host = new URL(systems.get(kind)?.baseUrl ?? '').host
      expect(details).toEqual(kind === 'right' ? [] : [`the certificate of ${host} is not verified`])
    }
  })
})

/** A module that replaces the resolver of the process with one for test names. Resolving `slow.test` takes 5 s. */
const resolver = `
  import dns from 'node:dns'
  import { syncBuiltinESMExports } from 'node:module'
  const known = {
    'metadata.test': '169.254.169.254', 'mapped.test': '::ffff:169.254.169.254', 'nowhere.test': '0.0.0.0',
    'many.test': '224.0.0.251', 'own.test': '127.0.0.1', 'good.test': '127.0.0.1', 'slow.test': '127.0.0.1',
  }
  const lookup = dns.lookup
  dns.lookup = (name, options, callback) => {
    if (!name.endsWith('.test')) return lookup(name, options, callback)
    const address = known[name]
    const found = [{ address, family: address?.includes(':') ? 6 : 4 }]
    const missing = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    setTimeout(() => (address ? callback(null, found) : callback(missing)), name === 'slow.test' ? 5000 : 1)
  }
  syncBuiltinESMExports()
`

describe.concurrent('a host name', () => {
  // Reliability: 1.15, 2.1.1, U25, 3.9.1.
  it('that does not resolve, resolves late, or resolves to a forbidden address fails without affecting others', async () => {
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const { port } = new URL(system.url)
    const rejected = ['metadata', 'mapped', 'nowhere', 'many', 'own']
    const entry = (code: string, upstreamPort = port) =>
      system.entry(code, { api_base_url: `http://${code}.test:${upstreamPort}`, timeout: 2 })
    const freeNetwork = await startNetwork(onTestEnd, system.url)
    await freeNetwork.refuse()
    const servicePort = new URL(freeNetwork.url).port
    const manufacturers = ['missing', 'slow', 'good', ...rejected].map((code) =>
      entry(code, code === 'own' ? servicePort : port),
    )
    const installation = await createInstallation({ manufacturers, server: { port: Number(servicePort) } })
    await installation.write('resolver.mjs', resolver)
    const service = installation.start(['serve', '--json'], {
      NODE_OPTIONS: `--import=${join(installation.path, 'resolver.mjs')}`,
    })
    await until('the service listens', () => service.out().includes('address'))
    const healthOf = async (code: string) => {
      const response = await fetch(`http://127.0.0.1:${servicePort}/api/health/?manufacturer=${code}`)
      return ((await response.json()) as { vendor_api: { consecutive_failures: number; error: string } }).vendor_api
    }
    // On a busy machine, an attempt may fail because of its timeout before the name has resolved.
    const failure = (code: string) =>
      eventually(async () => {
        const { consecutive_failures, error } = await healthOf(code)
        return consecutive_failures > 0 ? error : ''
      }, code)
    await failure('missing').toMatch(/the name of missing.test:\d+ does not resolve/)
    await failure('slow').toMatch(/no response from slow.test:\d+ within 2 s/)
    for (const code of rejected) await failure(code).toMatch(/nothing is sent to/)
    const requestsBefore = system.requests.length
    await until('the other system receives further requests', () => system.requests.length >= requestsBefore + 4)
    const times = system.requests.slice(-4).map(({ at }) => at)
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeLessThan(timeLimit(3000))
    // `slow.test` resolves after 5 s, so requests to it appear only if the test has run that long.
    const hosts = new Set(system.requests.map(({ headers }) => headers.host))
    hosts.delete(`slow.test:${port}`)
    expect([...hosts]).toEqual([`good.test:${port}`])
  })
})

// Reliability: 2.1.1, 2.1.6, U2.
it.concurrent('a connection attempt over a network that drops packets fails after 3 s, even with a longer timeout', async () => {
  // A suspended listener with a full backlog: the kernel does not respond to further connection attempts.
  const listener = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`,
  ])
  onTestEnd(() => listener.kill('SIGKILL'))
  const [line] = await once(listener.stdout, 'data')
  const port = Number(String(line))
  listener.kill('SIGSTOP')
  for (let isAccepted = true; isAccepted; ) {
    const client = connect(port, '127.0.0.1').on('error', () => {})
    onTestEnd(() => client.destroy())
    isAccepted = await Promise.race([
      once(client, 'connect').then(() => true),
      // After a busy moment, the timer fires before the connection that was accepted in the meantime is noticed.
      new Promise<boolean>((resolve) => setTimeout(() => setImmediate(() => resolve(!client.connecting)), 500)),
    ])
  }
  const system = await startSystem(respondJson({ devices: [device(1)] }))
  const app = await startApp({
    manufacturers: [
      system.entry('swallowed', { api_base_url: `http://127.0.0.1:${port}`, timeout: 10 }),
      system.entry('neighbour'),
    ],
  })
  const { error } = await until('the poll has failed', async () => {
    const { vendor_api } = (await app.get('/api/health/?manufacturer=swallowed')).json
    return vendor_api.consecutive_failures > 0 && vendor_api
  })
  expect(error).toMatch(/cannot be reached/)
  const startedAt = performance.now()
  expect((await app.post('/api/refresh/?manufacturer=swallowed')).status).toBe(503)
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(5500))
  expect((await app.post('/api/refresh/')).json).toMatchObject({ status: 'partial' })
})
