/** Discovery and keys of a provider before a sign-in; test/oidc.test.ts has the sign-ins. */

import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { startHostileProvider } from '../../test/support/oidc-provider.ts'
import { createDestinations } from './destinations.ts'
import { OidcProvider } from './oidc.ts'

const configuration = '/.well-known/openid-configuration'

async function startBoth() {
  const hostile = await startHostileProvider()
  const destinations = createDestinations()
  const open = (issuer = hostile.issuer, timeoutMs = 20_000) =>
    new OidcProvider({
      issuer,
      client_id: 'micwatch',
      client_secret: null,
      scopes: ['openid'],
      role_claim: 'groups',
      destinations,
      timeoutMs,
    })
  const describeWith = (metadata: object) => {
    hostile.respond[configuration] = (response) => sendJson(response, { issuer: hostile.issuer, ...metadata })
  }
  return { hostile, destinations, open, describeWith }
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const problemOf = (provider: OidcProvider) => provider.check().then(() => null, String)

// Conformance: C-16.88.
it('accepts only a provider that names itself like the configured issuer and signs with RS256 or ES256', async () => {
  const { open, describeWith } = await startBoth()
  expect(await problemOf(open())).toBeNull()
  describeWith({ issuer: 'https://login.example/{tenantid}/v2.0' })
  expect(await problemOf(open())).toMatch(/issuer/)
  describeWith({ id_token_signing_alg_values_supported: ['HS256', 'none'] })
  expect(await problemOf(open())).toMatch(/ID tokens are signed with HS256, none; RS256 or ES256 is needed/)
  describeWith({ id_token_signing_alg_values_supported: ['ES256'] })
  expect(await problemOf(open())).toBeNull()
})

// Conformance: C-16.93.
it('limits the time and the size of responses, and follows no redirects', async () => {
  const { hostile, open } = await startBoth()
  const openBriefly = () => open(hostile.issuer, 300)
  hostile.respond[configuration] = () => {}
  expect(await problemOf(openBriefly())).toMatch(/no response from 127\.0\.0\.1:\d+ within 0\.3 s/)
  hostile.respond[configuration] = (response) => void response.writeHead(200, { 'content-type': 'application/json' })
  expect(await problemOf(openBriefly())).toMatch(/no response from/)
  hostile.respond[configuration] = (response) => sendJson(response, { issuer: 'x'.repeat(300_000) })
  expect(await problemOf(open())).toMatch(/larger than Micwatch accepts/)
  const groups = Array.from({ length: 20_000 }, () => [])
  hostile.respond[configuration] = (response) => sendJson(response, { issuer: hostile.issuer, groups })
  expect(await problemOf(open())).toMatch(/responded with more than 20000 values and keys/)
  hostile.respond[configuration] = (response) => void response.writeHead(302, { location: '/elsewhere' }).end()
  expect(await problemOf(open())).toMatch(/unexpected HTTP response status code/)
  hostile.respond[configuration] = (response) => void response.writeHead(503).end()
  expect(await problemOf(open())).toMatch(/responded with status 503/)
  hostile.respond[configuration] = (response) => void response.writeHead(200).end('<html>')
  expect(await problemOf(open())).toMatch(/unexpected response content-type/)
})

// Conformance: C-16.93.
it('sends nothing to blocked addresses, and nothing unencrypted off loopback', async () => {
  const { hostile, destinations, open, describeWith } = await startBoth()
  expect(await problemOf(open('https://169.254.169.254'))).toMatch(/the address is not allowed/)
  expect(await problemOf(open('https://169.254.1.1'))).toMatch(/the address is not allowed/)
  expect(await problemOf(open('http://login.example'))).toMatch(/which is not encrypted/)
  describeWith({
    authorization_endpoint: `${hostile.issuer}/authorize`,
    token_endpoint: 'http://login.example/token',
    jwks_uri: `${hostile.issuer}/jwks`,
  })
  const checks = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }
  const callback = new URL('http://127.0.0.1/callback?code=c&state=s')
  await expect(open().identify(callback, checks)).rejects.toThrow(/http:\/\/login\.example, which is not encrypted/)
  destinations.blockListener('127.0.0.1', Number(new URL(hostile.issuer).port))
  expect(await problemOf(open())).toMatch(/the address is not allowed/)
})

// Conformance: C-16.89.
it('discovers the provider once for parallel sign-ins, and again after a failure', async () => {
  const { hostile, open } = await startBoth()
  let requests = 0
  const provider = open()
  hostile.respond[configuration] = (response) => {
    requests += 1
    if (requests === 1) response.writeHead(503).end()
    else sendJson(response, { issuer: hostile.issuer, authorization_endpoint: `${hostile.issuer}/authorize` })
  }
  const checks = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }
  const start = () => provider.authorizationUrl('https://mics.example/callback', checks)
  await expect(start()).rejects.toThrow(/status 503/)
  await Promise.all([start(), start(), start()])
  expect(requests).toBe(2)
})
