/** Fetches pictures from web addresses. Follows no redirects, and sends no credentials. */

import { maxPictureBytes, type Picture, pictureTypeOf } from '../domain/equipment/picture.ts'
import { toSentence } from '../domain/text.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { abortWithin } from '../platform/wait.ts'
import { createUpstreamClient, type UpstreamClient } from './client.ts'
import { type Destinations, withoutLinkLocal } from './destinations.ts'
import { ApiError, ApiRateLimitError, codeOf, describeServiceError } from './errors.ts'

interface LoadOptions {
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** For one picture. */
  readonly timeoutMs?: number
  /** For all pictures. */
  readonly totalMs?: number
}

const maxPictures = 1000
const maxTotalBytes = 100_000_000
const parallelRequests = 16
const rateLimit = { perSecond: 20, burst: 80 }

/** Returns the picture for each address, or a sentence with the reason for its failure. Throws if the signal aborts. */
export async function loadPictures(
  addresses: readonly string[],
  { destinations, signal, timeoutMs = 10_000, totalMs = 30_000 }: LoadOptions,
): Promise<ReadonlyMap<string, Picture | string>> {
  const clients = new Map<string, UpstreamClient>()
  const clientOf = (origin: string) => {
    const settings = {
      baseUrl: origin,
      timeoutMs,
      rateLimit,
      credentials: { scheme: 'none' },
      verifySsl: true,
    } as const
    const errors = { ApiError, ApiRateLimitError }
    const client =
      clients.get(origin) ?? createUpstreamClient({ settings, errors, destinations: withoutLinkLocal(destinations) })
    clients.set(origin, client)
    return client
  }
  const limit = abortWithin(totalMs, signal)
  const slots = new Semaphore(parallelRequests)
  let totalBytes = 0
  const load = async (address: string): Promise<Picture | string> => {
    if (limit.aborted) return `The photos were not all fetched within ${totalMs / 1000} s.`
    if (totalBytes > maxTotalBytes) return `The photos of the list exceed ${maxTotalBytes / 1_000_000} MB in total.`
    const url = URL.canParse(address) ? new URL(address) : null
    if (url === null || url.username !== '' || url.password !== '') {
      return 'Expected an http or https address without a user name.'
    }
    const picture = await fetchPicture(clientOf(url.origin), url, limit)
    if (typeof picture === 'object') totalBytes += picture.bytes.length
    return picture
  }
  try {
    const pictures = new Map<string, Picture | string>()
    await Promise.all(
      addresses.map(async (address, index) => {
        const isBeyond = index >= maxPictures
        const beyond = `At most ${maxPictures} photos are fetched for a list.`
        pictures.set(address, isBeyond ? beyond : await slots.run(() => load(address)))
      }),
    )
    signal.throwIfAborted()
    return pictures
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()))
  }
}

async function fetchPicture(client: UpstreamClient, url: URL, signal: AbortSignal): Promise<Picture | string> {
  try {
    const { body } = await client.request('GET', url.pathname + url.search, {
      headers: { accept: 'image/png, image/jpeg, image/webp', 'user-agent': 'Micwatch' },
      kind: 'picture',
      signal,
      read: async (bytes) => bytes,
    })
    const type = body instanceof Uint8Array ? pictureTypeOf(body) : null
    if (body instanceof Uint8Array && type !== null) return { type, bytes: body }
    return `${url.host} did not send a PNG, JPEG or WebP picture.`
  } catch (error) {
    if (signal.aborted) return 'The photos were not all fetched in time.'
    return describeProblem(error, url.host)
  }
}

function describeProblem(error: unknown, host: string): string {
  const status = error instanceof ApiError ? error.status : null
  if (status !== null && status >= 300 && status < 400) {
    return `${host} redirects to another address. Enter that address.`
  }
  if (status !== null) return `${host} responded with status ${status}.`
  const code = codeOf(error)
  if (code === 'BODY_TOO_LARGE') return `The picture is larger than ${maxPictureBytes / 1_000_000} MB.`
  return toSentence(describeServiceError(code, host) ?? (error instanceof Error ? error.message : String(error)))
}
