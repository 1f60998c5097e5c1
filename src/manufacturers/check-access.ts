/** Verifies the password of a detected device or system. Accepts only the certificate that was found. */

import { readFingerprint } from '../upstream/destinations.ts'
import { ApiError, codeOf, isCertificateCode } from '../upstream/errors.ts'
import type { DetectedDevice } from './detect.ts'
import { type Outbound, openSources } from './sources.ts'

export interface Access {
  readonly access: 'open' | 'password_needed' | 'password_rejected' | 'failed'
  readonly error: string | null
  /** SHA-256 of the certificate, if it is not trusted otherwise. */
  readonly fingerprint: string | null
}

/** Devices with protocols other than HTTP need no password, and their probes have already read from them. */
export async function checkAccess(
  { plugin, kind, address }: DetectedDevice,
  { username, password }: { readonly username: string | undefined; readonly password: string },
  outbound: Outbound,
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
