/** Detects the manufacturer and the protocol of a device or system from the address that an administrator enters. */

import type { DetectionBody } from '../../contract/manufacturers.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { checkAccess } from '../../manufacturers/check-access.ts'
import {
  type EnteredAddress,
  listProbes,
  parseEnteredAddress,
  resolveOnce,
  runProbes,
  selectAllowed,
} from '../../manufacturers/detect.ts'
import { getPlugin, plugins } from '../../manufacturers/index.ts'
import type { Plugin } from '../../manufacturers/plugin.ts'
import type { Probe } from '../../manufacturers/probe.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import { Semaphore } from '../../platform/concurrency.ts'
import { abortWithin } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'

interface DetectionRequest {
  readonly address: string
  /** Code of the only plugin to try. */
  readonly plugin?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Protocols that share a port are tried one after another. */
const detectionLimitMs = 30_000
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
  if (probes.length === 0)
    throw badAddress(
      `no supported protocol uses an address like ${entered.text}; enter only the host name or the IP address`,
    )
  const resolved = await resolveOnce(service.outbound.destinations, entered.host)
  if (resolved === null) {
    throw badAddress(`the name ${entered.host} does not resolve; check the spelling and the DNS server`)
  }
  const { ips, destinations } = resolved
  const allowed = await selectAllowed(probes, destinations)
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
  destinations: Outbound['destinations'],
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
