import { describe, expect, test } from 'vitest'
import { createAuthorizer, digestHeader, parseChallenges } from './authorize.ts'

// RFC 7616 §3.9.1: one request with an MD5 and a SHA-256 response.
const rfc = {
  username: 'Mufasa',
  secret: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  nonceCount: 1,
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
}
const rfcHeader = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'

describe('digest authorizer', () => {
  // Conformance: S-5.1, C-3.13.
  test.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('computes the example response of RFC 7616 §3.9.1 with %s', (algorithm, response) => {
    const [challenge] = parseChallenges(rfcHeader(algorithm))
    const header = challenge && digestHeader(challenge, rfc)
    expect(header).toContain(`response="${response}"`)
    expect(header).toContain('nc=00000001')
  })

  // Reliability: U23.
  test('prefers SHA-256 when both algorithms are offered', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    expect(digest.learn(`${rfcHeader('MD5')}, ${rfcHeader('SHA-256')}`, {})).toBe(true)
    expect(digest.headers('GET', '/').authorization).toContain('algorithm=SHA-256')
  })

  test('sends no credentials first, counts the uses of a nonce, and restarts the count with the next nonce', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    expect(digest.headers('GET', '/')).toEqual({})
    digest.learn('Digest realm="r", nonce="one", qop="auth"', {})
    expect(digest.headers('GET', '/').authorization).toContain('nc=00000001')
    expect(digest.headers('GET', '/').authorization).toContain('nc=00000002')
    digest.confirm('nextnonce="two", qop=auth')
    expect(digest.headers('GET', '/').authorization).toMatch(/nonce="two".*nc=00000001/)
  })

  test('retries after a stale nonce, but not when the same nonce is rejected', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    digest.learn('Digest realm="r", nonce="one", qop="auth"', {})
    const sent = digest.headers('GET', '/')
    expect(digest.learn('Digest realm="r", nonce="one", qop="auth"', sent)).toBe(false)
    expect(digest.learn('Digest realm="r", nonce="two", qop="auth", stale=true', sent)).toBe(true)
  })

  test('retries two parallel requests that receive the same nonce, with different nonce counts', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    const challenge = 'Digest realm="r", nonce="one", qop="auth"'
    expect(digest.learn(challenge, {})).toBe(true)
    const sent = digest.headers('GET', '/')
    expect(sent.authorization).toContain('nc=00000001')
    expect(digest.learn(challenge, {})).toBe(true)
    expect(digest.headers('GET', '/').authorization).toContain('nc=00000002')
    expect(digest.learn(`${challenge}, stale=true`, sent)).toBe(true)
    expect(digest.headers('GET', '/').authorization).toContain('nc=00000003')
  })

  test('retries again only while the nonce is stale, four attempts in all', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    const learn = (parameters: string, attempt: number) =>
      digest.learn(`Digest realm="r", qop="auth", ${parameters}`, digest.headers('GET', '/'), attempt)
    expect(learn('nonce="one"', 1)).toBe(true)
    expect(learn('nonce="two"', 2)).toBe(false)
    expect(learn('nonce="three", stale=true', 2)).toBe(true)
    expect(learn('nonce="four", stale=true', 3)).toBe(true)
    expect(learn('nonce="five", stale=true', 4)).toBe(false)
  })

  test('sends no credentials for an unsupported scheme', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's' })
    expect(digest.learn('Basic realm="r"', {})).toBe(false)
    expect(digest.headers('GET', '/')).toEqual({})
  })

  describe('key header', () => {
    const start = () =>
      createAuthorizer({ scheme: 'digest', username: 'u', secret: 's', keyHeader: 'x-api-key' }, () => 'cnonce')

    test('is sent after a 401 without a challenge, and only once', () => {
      const authorizer = start()
      expect(authorizer.headers('GET', '/')).toEqual({})
      expect(authorizer.learn('', {})).toBe(true)
      const sent = authorizer.headers('GET', '/')
      expect(sent).toEqual({ 'x-api-key': 's' })
      expect(authorizer.learn('', sent)).toBe(false)
    })

    test('is not sent to a peer that has accepted a request without it', () => {
      const authorizer = start()
      authorizer.confirm('')
      expect(authorizer.learn('', {})).toBe(false)
      expect(authorizer.headers('GET', '/')).toEqual({})
    })

    test('is never sent to a peer that sends a Digest or Basic challenge', () => {
      const challenges = [
        'Digest realm="r", nonce="n", qop="auth"',
        'Digest realm="r", nonce="n", algorithm=SHA3',
        'Basic',
      ]
      for (const challenge of challenges) {
        const authorizer = start()
        authorizer.learn(challenge, {})
        expect(authorizer.headers('GET', '/')).not.toHaveProperty('x-api-key')
        authorizer.learn('', authorizer.headers('GET', '/'))
        expect(authorizer.headers('GET', '/')).not.toHaveProperty('x-api-key')
      }
      const challenged = start()
      challenged.learn(challenges[0] ?? '', {})
      expect(challenged.learn('', challenged.headers('GET', '/'))).toBe(false)
      const late = start()
      late.learn('', {})
      expect(late.learn(challenges[0] ?? '', late.headers('GET', '/'))).toBe(true)
      expect(Object.keys(late.headers('GET', '/'))).toEqual(['authorization'])
    })
  })

  // Conformance: S-5.2.
  test('sends the additional key header only when it is configured', () => {
    const digest = createAuthorizer({ scheme: 'digest', username: 'u', secret: 's', header: 'X-Vendor-Auth-Key' })
    expect(digest.headers('GET', '/')).toEqual({ 'X-Vendor-Auth-Key': 's' })
  })
})

// Conformance: S-5.4.
test('basic authorizer sends its credentials with every request and ignores challenges', () => {
  const basic = createAuthorizer({ scheme: 'basic', username: 'api', secret: 'pass' })
  expect(basic.headers('GET', '/')).toEqual({ authorization: 'Basic YXBpOnBhc3M=' })
  expect(basic.learn('Basic realm="r"', basic.headers('GET', '/'))).toBe(false)
})
