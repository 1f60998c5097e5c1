/** Secrets and hostile texts do not appear in logs, responses, errors or on the terminal. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createInstallation, until } from '../support/app.ts'
import { type Responder, respondJson, startSystem } from '../support/faults/system.ts'

const secret = 'shibboleth-of-the-venue'
const password = 'correct horse battery'

/** Returns every credential that it receives, in every part of the response. */
const echoCredentials: Responder = (request, response) => {
  const credentials = JSON.stringify(request.headers)
  if (request.url !== '/api/v1/devices')
    return respondJson({ error: credentials, shared_key: secret }, 500)(request, response)
  const device = { id: 'one', name: 'Rack', model: 'M', device_type: 'ulxd', ip: '10.0.0.9', is_online: true }
  return respondJson({ devices: [{ ...device, description: 'x', shared_key: secret, note: { password: secret } }] })(
    request,
    response,
  )
}

describe('an upstream secret', () => {
  // Reliability: 1.16, 3.8.4.
  it('is in no response, message, log line, error or file, whatever the system returns', {
    timeout: 60_000,
  }, async () => {
    const system = await startSystem(echoCredentials)
    const settings = { password: secret, username: 'ana', timeout: 2 }
    const installation = await createInstallation({ manufacturers: [system.entry('shure', settings)] })
    const service = await installation.serve([], { MICWATCH_LOG: 'debug' })
    const created = await service.post('/api/auth/setup', { username: 'ana', password })
    const headers = { cookie: (created.headers['set-cookie'] ?? []).map((header) => header.split(';')[0]).join('; ') }
    const socket = await service.socket()
    await until('the system was polled', () => system.requests.length > 3)
    system.respondWith(respondJson({ error: secret }, 500))
    await until('the poll fails', async () => (await service.get('/api/health/')).json.vendor_api.status === 'degraded')
    await socket.next(({ type }) => type === 'status_update')

    const document = (await service.get('/api/openapi.json')).json as { paths: Record<string, { get?: object }> }
    const paths = Object.keys(document.paths).filter((path) => document.paths[path]?.get !== undefined)
    expect(paths.length).toBeGreaterThan(20)
    for (const path of paths) {
      const { bytes } = await service.get(path.replaceAll(/\{\w+\}/g, '1'), headers)
      expect([path, bytes.includes(secret)]).toEqual([path, false])
    }
    expect(JSON.stringify(socket.messages)).not.toContain(secret)
    const checked = await installation.run(['check_api_health', '--json'])
    const polled = await installation.run(['poll_devices', '--once'], { MICWATCH_LOG: 'debug' })
    for (const text of [service.out(), service.err(), checked.out, checked.err, polled.out, polled.err]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(password)
    }
    service.kill('SIGTERM')
    await service.ended
    const data = join(installation.path, 'data')
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const file = join(entry.parentPath, entry.name)
      expect([file, (await readFile(file)).includes(secret)]).toEqual([file, false])
    }
  })
})

describe('a hostile name', () => {
  // Reliability: 1.8.
  it('moves no cursor and breaks no line, in logs and on the terminal', async () => {
    const name = 'Rack\u001b[2J\u001b]0;owned\u0007\r\nERROR all is lost\u009b2J\u202e'
    const device = { model: name, device_type: 'ulxd', ip: '10.0.0.9', is_online: true, firmware_version: name }
    const system = await startSystem(respondJson({ devices: [{ ...device, id: `one${name}`, name }] }))
    const installation = await createInstallation({ manufacturers: [system.entry('shure')] })
    const service = await installation.serve([], { MICWATCH_LOG: 'debug' })
    await until('the device is known', async () => (await service.receivers()).length === 1)
    await service.post('/api/auth/login', { username: name, password: name })
    await service.get(`/nowhere/${encodeURIComponent(name)}`)
    system.respondWith((_request, response) => void response.writeHead(500, { 'x-odd': 'a' }).end(name))
    await until('the poll fails', async () => (await service.get('/api/health/')).json.vendor_api.status === 'degraded')
    const status = await installation.run(['realtime_status', '--verbose'])
    const health = await installation.run(['check_api_health'])
    const unknownManufacturer = await installation.run(['check_api_health', '--manufacturer', name])
    expect(unknownManufacturer.code).toBe(2)
    const document = await installation.run(['realtime_status', '--json'])
    expect(JSON.stringify(document.json())).toMatch(/all is lost/)
    await service.post('/api/group/', { title: name })
    const exported = await installation.run(['export'])
    expect(parse(exported.out).groups).toMatchObject([{ title: name }])
    const texts = [status, health, unknownManufacturer, document, exported].flatMap(({ out, err }) => [out, err])
    for (const text of [service.out(), service.err(), ...texts]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      expect(text.split('\n').filter((line) => line.startsWith('ERROR'))).toEqual([])
    }
    for (const line of service.err().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  })
})
