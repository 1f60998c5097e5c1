import { type MouseEvent, useRef, useState } from 'react'
import type { ConnectionTest } from '../../../src/contract/manufacturers.ts'
import type { ConfigKey } from '../../../src/domain/equipment/manufacturer-config.ts'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { CancelButton } from '../../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { statusText } from '../../parts/equipment/source-status.ts'

export interface Trial {
  readonly isTesting: boolean
  readonly tested: ConnectionTest | null
  readonly problem: Problem | null
  test(values: FormData): Promise<void>
  /** Discards a test result that no longer matches the form. */
  forget(): void
}

export function useTrial(tryOut: (values: FormData) => Promise<ApiResponse<ConnectionTest>>): Trial {
  const { send, isSending, problem, forget } = useRequest()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  /** Responses to outdated requests are ignored. */
  const turn = useRef(0)
  return {
    isTesting: isSending,
    tested,
    problem,
    async test(values) {
      setTested(null)
      turn.current += 1
      const request = turn.current
      const response = await send(() => tryOut(values))
      if (response?.ok && turn.current === request) setTested(response.body)
    },
    forget() {
      turn.current += 1
      setTested(null)
      forget()
    },
  }
}

interface FormButtonsProps {
  readonly trial: Trial
  readonly keys: readonly ConfigKey[]
}

/** The buttons beside *Save*, and the test result. */
export function FormButtons({ trial, keys }: FormButtonsProps) {
  const { isTesting, tested, problem } = trial
  const test = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    if (form !== null) void trial.test(new FormData(form))
  }
  return (
    <>
      <button type="button" className="choice" disabled={isTesting} onClick={test}>
        {isTesting ? t('manufacturers.test.testing') : t('manufacturers.test.action')}
      </button>
      <CancelButton />
      {problem === null ? null : <ProblemLine problem={problem} field={labelOf(keys, problem.field)} />}
      {tested === null ? null : (
        <div className="test-unsaved">
          <TestResult tested={tested} />
          <p className="hint">{t('manufacturers.test.notStored')}</p>
        </div>
      )}
    </>
  )
}

function labelOf(keys: readonly ConfigKey[], field: string | undefined): string | undefined {
  const key = keys.find((key) => `config.${key}` === field)
  return key === undefined ? field : t(`manufacturers.labels.${key}`)
}

const tones = { healthy: 'good', degraded: 'waiting', unhealthy: 'bad' } as const

export function TestResult({ tested }: { tested: ConnectionTest }) {
  return (
    <div role="status">
      <ul className="test-result">
        {tested.sources.length === 0 ? <li>{t('manufacturers.test.unconfigured')}</li> : null}
        {tested.sources.map(({ base_url, status, error, devices }) => (
          <li key={base_url}>
            <span className="tag" data-tone={tones[status]}>
              {statusText(status)}
            </span>{' '}
            <bdi>
              {plainText(status === 'healthy' ? responseText(base_url, devices) : (error ?? failureText(base_url)))}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}

function responseText(address: string, devices: number | null): string {
  return devices === null
    ? t('manufacturers.test.responded', { address })
    : t('manufacturers.test.answered', { address, count: devices })
}

function failureText(address: string): string {
  return t('manufacturers.test.failed', { address })
}
