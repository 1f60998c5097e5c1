import assert from 'node:assert/strict'
import { it } from 'node:test'
import { InstanceStatus } from '@companion-module/base'
import { readFailure } from './api.ts'
import { readSettings } from './config.ts'
import { findGroup } from './groups.ts'
import { retryDelayMs } from './live-connection.ts'
import { describeError, describeResponse } from './problems.ts'

it('reads addresses with and without scheme, port and path', () => {
  const urls = [
    ['192.168.1.20:8080', 'http://192.168.1.20:8080'],
    [' https://mics.example/rf/ ', 'https://mics.example/rf'],
    ['http://[::1]:8080/', 'http://[::1]:8080'],
  ] as const
  for (const [text, url] of urls) {
    const settings = readSettings({ url: text }, undefined)
    assert.equal(typeof settings === 'string' ? settings : settings.url, url)
  }
  for (const url of ['', ' ', 'ftp://x', 'http://', 'http://a b'])
    assert.equal(typeof readSettings({ url }, {}), 'string')
})

it('reads the other settings, and has defaults', () => {
  assert.deepEqual(readSettings({ url: 'http://a' }, {}), {
    url: 'http://a',
    token: null,
    group: null,
    levelsIntervalMs: 1000,
    acceptAnyCertificate: false,
  })
  const all = { url: 'http://a', group: ' Choir ', levels: 'off', acceptAnyCertificate: true } as const
  assert.deepEqual(readSettings(all, { token: ' t ' }), {
    url: 'http://a',
    token: 't',
    group: 'Choir',
    levelsIntervalMs: null,
    acceptAnyCertificate: true,
  })
})

it('waits 1 to 30 seconds', () => {
  assert.deepEqual([1, 2, 3, 5, 6, 60].map(retryDelayMs), [1000, 2000, 4000, 16_000, 30_000, 30_000])
})

// Conformance: C-16.117.
it('describes failures in sentences', () => {
  const url = 'http://10.0.0.5:8080'
  const failure = (code: string) => describeError(Object.assign(new Error('x'), { code }), url).message
  assert.match(failure('ECONNREFUSED'), /^Connection refused by 10\.0\.0\.5:8080\. Check/)
  assert.match(failure('ENOTFOUND'), /was not found/)
  assert.match(failure('EHOSTUNREACH'), /^No response from/)
  assert.match(failure('CERT_HAS_EXPIRED'), /not trusted \(CERT_HAS_EXPIRED\)/)
  assert.match(describeError(new Error('Opening handshake has timed out'), url).message, /^No response from/)
  assert.match(
    describeError(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }), url)
      .message,
    /refused/,
  )
  const statuses = [400, 401, 403, 404, 503].map(
    (status) => describeResponse({ status, message: '' }, url, true).status,
  )
  assert.deepEqual(statuses, [
    InstanceStatus.BadConfig,
    InstanceStatus.AuthenticationFailure,
    InstanceStatus.InsufficientPermissions,
    InstanceStatus.ConnectionFailure,
    InstanceStatus.ConnectionFailure,
  ])
})

it('reads the message of a failed response, and of one that is not from Micwatch', () => {
  assert.deepEqual(readFailure(409, '{"error":"Conflict.","details":"The show is running."}'), {
    status: 409,
    message: 'Conflict. The show is running.',
  })
  assert.deepEqual(readFailure(502, '<html>Bad gateway</html>'), { status: 502, message: '' })
})

it('finds a group by title before id', async () => {
  const api = {
    get: async () => [
      { id: 1, title: '2', slots: [] },
      { id: 2, title: 'Choir', slots: [] },
    ],
  }
  assert.equal(await findGroup(api, null), null)
  assert.equal(await findGroup(api, '2'), 1)
  assert.equal(await findGroup(api, '1'), 1)
  assert.equal(await findGroup(api, 'Choir'), 2)
  await assert.rejects(findGroup(api, 'Band'), /There is no group "Band"\. There are: 2, Choir\./)
})
