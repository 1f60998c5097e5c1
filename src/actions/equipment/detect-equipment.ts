/** Detects the manufacturer and the protocol of a device or system from the address that an administrator enters. */

import { isIP } from 'node:net'
import type { DetectionBody } from '../../contract/manufacturers.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  type DetectedDevice,
  type EnteredAddress,
  listProbes,
  parseEnteredAddress,
  runProbes,
} from '../../manufacturers/detect.ts'
import { getPlugin, plugins } from '../../manufacturers/index.ts'
import type { Plugin } from '../../manufacturers/plugin.ts'
import type { Probe } from '../../manufacturers/probe.ts'
import { openSources } from '../../manufacturers/sources.ts'
import { Semaphore } from '../../platform/concurrency.ts'
import { abortWithin, withTimeout } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { type Destinations, isHostBlocked, readFingerprint } from '../../upstream/destinations.ts'
import { ApiError, codeOf, isCertificateCode } from '../../upstream/errors.ts'

interface DetectionRequest {
  readonly address: string
  /** Code of the only plugin to try. */
  readonly plugin?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Protocols that share a port are tried one after another. */
const detectionLimitMs = 30_000
const resolveLimitMs = 2_000
/** Further detections wait. */
const detectionSlots = new Semaphore(4)

/** Throws a RequestError if the address is invalid, does not resolve, or must not be contacted. */
export async function detectEquipment(
  service: Service,
  actor: Actor,
  request: DetectionRequest,
): Promise<DetectionBody> {
  const entered = parseEnteredAddress(request.address)
  if (entered === null) {
    throw badAddress('expected a host name or an IP address, such as 10.0.0.12 or tcp://10.0.0.12')
  }
  const probes = selectPlugins(request.plugin).flatMap((plugin) => listProbes(plugin, entered))
  if (probes.length === 0) throw badAddress(`no protocol of these manufacturers has an address like ${entered.text}`)
  const { ips, destinations } = await resolveOnce(service.outbound.destinations, entered.host)
  const areBlocked = await Promise.all(probes.map(({ address }) => isHostBlocked(destinations, new URL(address))))
  const allowed = probes.filter((_, index) => !areBlocked[index])
  if (allowed.length === 0) {
    throw badAddress(
      `expected the address of equipment, not of Micwatch itself, a cloud metadata service or a multicast group; Micwatch sends no requests to ${entered.host}`,
    )
  }
  const known = findKnown(service, entered, { ips, probes: allowed })
  const detected: Omit<DetectionBody, 'known'> =
    known.length > 0
      ? { found: [], unknown: [], tried: [] }
      : await detectionSlots.run(() => detect(service, allowed, destinations, request))
  const details = { found: detected.found.map(({ address }) => address) }
  const audited = { actor, action: 'network.scan', target: entered.text, result: 'ok', details } as const
  await service.db.transaction((tx) => writeAudit(tx, audited))
  return { ...detected, known }
}

function badAddress(details: string): RequestError {
  return new RequestError('bad_request', { details: `address: ${details}` })
}

function selectPlugins(code: string | undefined): readonly Plugin[] {
  if (code === undefined) return plugins
  try {
    return [getPlugin(code)]
  } catch (cause) {
    throw new RequestError('bad_request', { details: `plugin: ${(cause as Error).message}`, cause })
  }
}

/** The name keeps its addresses during the detection, so that the checked ones are those that are contacted. */
async function resolveOnce(
  destinations: Destinations,
  host: string,
): Promise<{ readonly ips: readonly string[]; readonly destinations: Destinations }> {
  const literal = host.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0) return { ips: [literal], destinations }
  const resolved = await withTimeout(
    destinations.resolve(host).catch(() => []),
    resolveLimitMs,
  )
  if (resolved === 'late' || resolved.length === 0) {
    throw badAddress(`the name of ${host} does not resolve; check the address and the name server`)
  }
  return {
    ips: resolved.map(({ address }) => address),
    destinations: { ...destinations, resolve: async () => resolved },
  }
}

/** Monitored devices are not contacted, because many accept only few connections. */
function findKnown(
  { sourceRegistry, receiverSources, receiverStore }: Service,
  { scheme, port }: EnteredAddress,
  { ips, probes }: { readonly ips: readonly string[]; readonly probes: readonly Probe[] },
): DetectionBody['known'] {
  const addresses = new Set(probes.map(({ address }) => address))
  const sources = sourceRegistry.sources().filter(({ settings }) => addresses.has(settings.baseUrl))
  const sourceIds = new Set(sources.map(({ id }) => id))
  const isBare = scheme === null && port === null
  const receivers = receiverStore.listFacts().filter(({ id, ip }) => {
    return (
      (isBare && ip !== null && ips.includes(ip)) || receiverSources.list(id).some((source) => sourceIds.has(source))
    )
  })
  if (receivers.length > 0) {
    return receivers.map(({ id, name, manufacturer }) => ({ receiver_id: id, name, manufacturer }))
  }
  return sources.map(({ settings, manufacturer }) => ({ receiver_id: null, name: settings.baseUrl, manufacturer }))
}

async function detect(
  { outbound, signal: lifetime }: Service,
  probes: readonly Probe[],
  destinations: Destinations,
  { username, password = '' }: DetectionRequest,
): Promise<Omit<DetectionBody, 'known'>> {
  const signal = abortWithin(detectionLimitMs, lifetime)
  const { found, failed } = await runProbes(probes, destinations, signal)
  const isOne = found.length === 1
  const credentials = { username, password: isOne ? password : '' }
  const checked = found.map(async (device) => {
    const { plugin, kind, address, device_type, model, channels } = device
    const access = await checkAccess(device, credentials, { ...outbound, destinations }, signal)
    return { plugin: plugin.code, kind, address, device_type, model, channels, ...access }
  })
  return {
    found: await Promise.all(checked),
    unknown: failed.map(({ address, error }) => ({ address, error })),
    tried: probes.map(({ plugin, address }) => ({ plugin: plugin.code, address })),
  }
}

type Access = Pick<DetectionBody['found'][number], 'access' | 'error' | 'fingerprint'>

/** Devices on other protocols than HTTP need no password, and their probes have already read from them. */
async function checkAccess(
  { plugin, kind, address }: DetectedDevice,
  { username, password }: { readonly username: string | undefined; readonly password: string },
  outbound: Service['outbound'],
  signal: AbortSignal,
): Promise<Access> {
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { access: 'open', error: null, fingerprint: null }
  const request = async (fingerprint: string | null) => {
    const device = { url: address, password, fingerprint }
    const config = {
      ...(kind === 'system' ? { api_base_url: address, password, fingerprint } : { devices: [device] }),
      ...(username && { username }),
    }
    const [settings] = plugin.listSources(config)
    if (settings === undefined) return null
    // Devices count wrong credentials, and would count an empty password.
    const anonymous = password === '' && { credentials: { scheme: 'none' } as const }
    const [source] = openSources({ code: plugin.code, plugin: plugin.code, config }, outbound, [
      { ...settings, ...anonymous },
    ])
    try {
      await source?.listDevices(signal)
      return null
    } catch (error) {
      return error
    } finally {
      await source?.client.close()
    }
  }
  const error = await request(null)
  const isUntrusted = error !== null && isCertificateCode(codeOf(error))
  const fingerprint = isUntrusted ? await readFingerprint(url, outbound.destinations, signal).catch(() => null) : null
  return { ...toAccess(fingerprint === null ? error : await request(fingerprint), password !== ''), fingerprint }
}

function toAccess(error: unknown, hasPassword: boolean): Pick<Access, 'access' | 'error'> {
  if (error === null) return { access: 'open', error: null }
  const message = error instanceof Error ? error.message : String(error)
  const isDenied = error instanceof ApiError && error.status === 401
  if (!isDenied) return { access: 'failed', error: message }
  return { access: hasPassword ? 'password_rejected' : 'password_needed', error: message }
}
