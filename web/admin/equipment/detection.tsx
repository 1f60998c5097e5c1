import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { DetectionBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import type { Api, ApiResponse, Problem } from '../../app/api.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'

export interface FoundEquipment extends Pick<DetectionBody['found'][number], 'plugin' | 'kind' | 'address'> {
  readonly model?: string | null
  readonly fingerprint?: string | null
}

interface DetectionState {
  readonly address: string
  /** Null while it runs. */
  readonly body: DetectionBody | null
}

export interface Detection {
  readonly state: DetectionState | null
  set(state: DetectionState): void
  /** Discards the result of another address. */
  keepFor(address: string): void
  forget(): void
}

export function useDetection(): Detection {
  const [state, set] = useState<DetectionState | null>(null)
  return {
    state,
    set,
    keepFor: (address) => set((before) => (before?.address === address ? before : null)),
    forget: () => set(null),
  }
}

interface DetectOptions {
  readonly request: { readonly address: string; readonly plugin?: string; readonly password: string }
  /** The address and the plugin that the user chose among several. */
  readonly choice: string
  readonly fields: { readonly address: string; readonly password: string | undefined }
}

/** Returns what was found if it can be added, else the problem. */
export async function detect(
  api: Api,
  { state, set, forget }: Detection,
  { request, choice, fields }: DetectOptions,
): Promise<ApiResponse<FoundEquipment>> {
  const { address } = request
  const chosen = state?.address === address ? state.body?.found.find((each) => choiceOf(each) === choice) : undefined
  const target = chosen === undefined ? request : { ...request, address: chosen.address, plugin: chosen.plugin }
  set({ address, body: null })
  const response = await api.write('POST', `${manufacturersPath}detect`, target, 'object')
  if (!response.ok) {
    forget()
    const { problem } = response
    return { ok: false, problem: { ...problem, ...(problem.field === 'address' && { field: fields.address }) } }
  }
  const { body } = response
  set({ address, body })
  const refuse = (detail: string, field: string | undefined = fields.address) => {
    const problem: Problem = { kind: 'refused', detail, field }
    return { ok: false, problem } as const
  }
  const [first, ...others] = body.found
  if (first === undefined) return refuse(describeNothing(address, body))
  if (others.length > 0) return { ok: false, problem: { kind: 'refused', detail: t('manufacturers.detect.choose') } }
  const device = plainText(first.model ?? first.address)
  if (first.access === 'password_needed') return refuse(t('manufacturers.detect.password', { device }), fields.password)
  if (first.access === 'password_rejected')
    return refuse(t('manufacturers.detect.rejected', { device }), fields.password)
  if (first.access === 'failed') return refuse(plainText(first.error ?? ''))
  return { ok: true, body: first }
}

function describeNothing(address: string, { known, unknown }: DetectionBody): string {
  const [first] = known
  if (first !== undefined) return t('manufacturers.detect.known', { name: plainText(first.name) })
  return unknown.length > 0
    ? t('manufacturers.detect.unknown', { address: plainText(address) })
    : t('manufacturers.detect.none', { address: plainText(address) })
}

function choiceOf({ plugin, address }: FoundEquipment): string {
  return `${plugin} ${address}`
}

interface DetectionResultProps {
  readonly detection: Detection
  readonly plugins: readonly PluginBody[]
}

export function DetectionResult({ detection: { state }, plugins }: DetectionResultProps) {
  if (state === null) return null
  if (state.body === null) {
    return <p role="status">{t('manufacturers.detect.running', { address: plainText(state.address) })}</p>
  }
  const { found, known, unknown, tried } = state.body
  const manufacturerOf = (code: string) => plugins.find((plugin) => plugin.code === code)?.name ?? code
  const [first] = found
  return (
    <>
      {known.map(({ receiver_id, name }) => (
        <p key={receiver_id}>
          {receiver_id === null ? (
            <Link to={pathOf('manufacturers')}>{plainText(name)}</Link>
          ) : (
            <Link to="/receivers/$id" params={{ id: String(receiver_id) }}>
              {plainText(name)}
            </Link>
          )}
        </p>
      ))}
      {found.length < 2 ? null : (
        <fieldset className="field">
          <legend>{t('manufacturers.detect.choices')}</legend>
          {found.map((each) => (
            <label key={choiceOf(each)} className="tick">
              <input type="radio" name="choice" value={choiceOf(each)} />
              <bdi>
                {plainText([manufacturerOf(each.plugin), each.model, each.address].filter(Boolean).join(' · '))}
              </bdi>
            </label>
          ))}
        </fieldset>
      )}
      {found.length === 1 && first?.fingerprint ? (
        <p className="hint certificate">{t('manufacturers.detect.fingerprint', { fingerprint: first.fingerprint })}</p>
      ) : null}
      {unknown.length === 0 ? null : (
        <ul className="test-result">
          {unknown.map(({ address, error }) => (
            <li key={address}>
              <bdi>{plainText(`${address}: ${error}`)}</bdi>
            </li>
          ))}
        </ul>
      )}
      {found.length > 0 || tried.length === 0 ? null : (
        <details>
          <summary>{t('manufacturers.detect.tried')}</summary>
          <ul className="test-result">
            {tried.map(({ plugin, address }) => (
              <li key={`${plugin} ${address}`}>
                <bdi>{plainText(`${manufacturerOf(plugin)}: ${address}`)}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
