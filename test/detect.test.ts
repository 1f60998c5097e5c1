/** Detecting the manufacturer and the protocol of equipment from its address. */

import { describe, expect, it } from 'vitest'
import { startAudioTechnicaSimulator } from '../simulators/audio_technica/receivers.ts'
import { startSsc2Simulator } from '../simulators/sennheiser/ssc2.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { DetectionBody } from '../src/contract/manufacturers.ts'
import { auditOf } from './support/admin-lists.ts'
import {
  configFor,
  startApp,
  startLectrosonics,
  startShure,
  startSystemApi,
  type TestApp,
  until,
} from './support/app.ts'
import { certify } from './support/certificates.ts'
import { onTestEnd } from './support/cleanup.ts'
import { serveHttp } from './support/plugins/plugin-kit-server.ts'
import { tokenHeaders } from './support/tokens.ts'

async function detectorOf(app: TestApp) {
  const headers = await tokenHeaders(app, 'admin')
  return async (body: object) => {
    const { status, json } = await app.post('/api/admin/manufacturers/detect', body, headers)
    return { status, ...(json as DetectionBody & { details?: string }) }
  }
}

describe.concurrent('detecting equipment', () => {
  // Conformance: C-21.50.
  it('finds the protocol of a bare address, and says what it tried', async () => {
    await startLectrosonics({ host: '127.0.76.1', port: 4080 })
    const receivers = await startAudioTechnicaSimulator({
      host: '127.0.76.2',
      port: 17_200,
      receivers: 1,
      story: false,
    })
    onTestEnd(() => receivers.close())
    const app = await startApp()
    const detect = await detectorOf(app)
    const [dsqd, system20, nothing] = await Promise.all([
      until('the receiver is found', async () => {
        const detected = await detect({ address: ' 127.0.76.1 ' })
        return detected.found.length > 0 && detected
      }),
      detect({ address: '127.0.76.2', plugin: 'audio_technica' }),
      detect({ address: '127.0.76.3' }),
    ])
    const open = { kind: 'device', access: 'open', error: null, fingerprint: null, channels: 4 }
    const address = 'tcp://127.0.76.1:4080'
    expect(dsqd.found).toEqual([{ ...open, plugin: 'lectrosonics', address, device_type: 'dsqd', model: 'DSQD' }])
    expect(system20.found).toMatchObject([{ ...open, plugin: 'audio_technica', address: 'tcp://127.0.76.2:17200' }])
    expect(system20.tried).toEqual([{ plugin: 'audio_technica', address: 'tcp://127.0.76.2:17200' }])
    expect(nothing).toMatchObject({ status: 200, found: [], known: [], unknown: [] })
    expect(nothing.tried).toContainEqual({ plugin: 'shure', address: 'tcp://127.0.76.3:2202' })
    expect(nothing.tried).toContainEqual({ plugin: 'sennheiser', address: 'ssc1://127.0.76.3:45' })
    const scans = (await auditOf(app, 'network.scan')).filter(({ target }) => target === '127.0.76.3')
    expect(scans).toMatchObject([{ result: 'ok', details: { found: [] } }])
  })

  // Conformance: C-21.50.
  it('accepts a port, a protocol, and both', async () => {
    const device = await startStringsSimulator({ family: 'ulxd' })
    onTestEnd(() => device.close())
    const { host } = new URL(device.url)
    const detect = await detectorOf(await startApp())
    for (const address of [device.url, host, host.replace('127.0.0.1', 'localhost')]) {
      const { found } = await detect({ address, plugin: 'shure' })
      expect(found).toMatchObject([
        { plugin: 'shure', device_type: 'ulxd', address: expect.stringContaining('tcp://') },
      ])
    }
  })

  // Conformance: C-21.51.
  it('asks for the password, and verifies it with the certificate that was found', async () => {
    const tls = await certify({ name: 'system-api.example' })
    const system = await startSystemApi({ host: '127.0.76.9', port: 10_000, tls, sharedKey: 'right' })
    const device = await startSsc2Simulator({ product: 'EWDX2CHS', password: 'right', tls })
    onTestEnd(() => device.close())
    const detect = await detectorOf(await startApp())
    const accessTo = async (address: string, password?: string) => {
      const { found } = await until('it is found', async () => {
        const detected = await detect({ address, password })
        return detected.found.length > 0 && detected
      })
      return found
    }
    for (const { address, model } of [
      { address: '127.0.76.9', model: 'System API' },
      { address: device.url, model: 'EW-DX EM 2' },
    ]) {
      const fingerprint = expect.stringMatching(/^(?:[\dA-F]{2}:){31}[\dA-F]{2}$/)
      expect(await accessTo(address)).toMatchObject([{ model, access: 'password_needed', fingerprint }])
      expect(await accessTo(address, 'wrong')).toMatchObject([{ access: 'password_rejected' }])
      expect(await accessTo(address, 'right')).toMatchObject([{ access: 'open', error: null, fingerprint }])
    }
    expect(system.requests.entries.map(({ refusal }) => refusal)).toContain('no-credentials')
  })

  // Conformance: C-21.51.
  it('sends no password as long as several manufacturers are possible', async () => {
    const shure = await startShure({ sharedKey: 'right' })
    const detect = await detectorOf(await startApp())
    const both = await detect({ address: shure.baseUrl, password: 'right' })
    expect(both.found.map(({ plugin, access }) => [plugin, access])).toEqual([
      ['shure', 'password_needed'],
      ['sennheiser', 'password_needed'],
    ])
    const one = await detect({ address: shure.baseUrl, password: 'right', plugin: 'shure' })
    expect(one.found).toMatchObject([{ plugin: 'shure', kind: 'system', address: shure.baseUrl, access: 'open' }])
  })

  // Conformance: C-21.52.
  it('reports what responds but is unknown, and contacts nothing that is monitored', async () => {
    const server = await serveHttp({ onRequest: (_, response) => response.writeHead(404).end('Hello') })
    onTestEnd(() => server.close())
    const monitored = await startLectrosonics()
    const app = await startApp({ manufacturers: [configFor(monitored)] })
    const detect = await detectorOf(app)
    const unknown = await detect({ address: server.url })
    expect(unknown.found).toEqual([])
    expect(unknown.unknown).toContainEqual({ address: server.url, error: expect.stringContaining('404') })
    const [receiver] = await until('the receiver is known', async () => {
      const receivers = await app.receivers()
      return receivers.length === 1 && receivers
    })
    const known = { receiver_id: receiver?.id, name: receiver?.name, manufacturer: 'lectrosonics' }
    await until('the source of the receiver is known', async () => {
      const detected = await detect({ address: monitored.baseUrl, plugin: 'lectrosonics' })
      expect(detected).toMatchObject({ found: [], unknown: [], tried: [] })
      return detected.known[0]?.receiver_id === known.receiver_id
    })
    const bare = await detect({ address: String(receiver?.ip) })
    expect([bare.known, bare.tried]).toEqual([[known], []])
  })

  // Conformance: C-21.53.
  it('rejects bad addresses, those that must not be contacted, and other roles', async () => {
    const app = await startApp()
    const detect = await detectorOf(app)
    const bad = ['', '10.0.0', '010.0.0.1', '10.0.0.1/24', 'a b', 'ftp://10.0.0.1', 'https://u:p@10.0.0.1', 'tcp://h/x']
    const blocked = ['169.254.169.254', '224.0.0.1', '0.0.0.0', app.url, 'nowhere.invalid']
    for (const address of [...bad, ...blocked]) {
      const { status, details } = await detect({ address })
      expect([address, status, details]).toEqual([address, 400, expect.stringMatching(/^address: /)])
    }
    expect(await detect({ address: '10.0.0.1', plugin: 'nobody' })).toMatchObject({ status: 400 })
    const path = '/api/admin/manufacturers/detect'
    const operator = await app.post(path, { address: '127.0.0.1' }, await tokenHeaders(app, 'operator'))
    expect([operator.status, (await app.post(path, { address: '127.0.0.1' })).status]).toEqual([403, 401])
  })
})
