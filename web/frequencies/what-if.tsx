/** Tried frequencies are checked, copied, exported and stored as a plan, but never sent to receivers. */

import { Copy, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import type { ScanBody } from '../../src/contract/scans.ts'
import type { Region } from '../../src/contract/values.ts'
import { exportCarriers } from '../../src/domain/frequencies/export-carriers.ts'
import type { Problem } from '../app/api.ts'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { listChanges, type ShownCarrier } from './carriers.ts'
import type { FindCarrier } from './conflict-text.ts'
import { ExportMenu } from './export-menu.tsx'
import { acceptedText, reasonText } from './reason-text.ts'
import type { Suggestion, Unplaced } from './suggestion.ts'

interface WhatIfProps {
  /** With the tried frequencies. */
  readonly carriers: readonly ShownCarrier[]
  /** The result of the last suggestion. */
  readonly suggestion: Suggestion
  readonly find: FindCarrier
  readonly scans: readonly Pick<ScanBody, 'id' | 'name'>[]
  readonly region: Region
  /** Of the check of the tried frequencies. */
  readonly problem: Problem | null
  readonly storeButton: ReactNode
  onEnd(): void
}

export function WhatIf({ carriers, suggestion, find, scans, region, problem, storeButton, onEnd }: WhatIfProps) {
  const { unplaced, accepted } = suggestion
  const showMessage = useShowMessage()
  const groups = useWatchState((watchState) => watchState.groups)
  const box = useRef<HTMLElement>(null)
  const changes = listChanges(carriers)
  // Each suggestion has its own list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the result of a suggestion is shown.
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [unplaced])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(changes.map(changeLine).join('\n'))
      showMessage({ text: t('frequencies.whatIf.copied', { count: changes.length }) })
    } catch {
      showMessage({ text: t('frequencies.whatIf.notCopied'), tone: 'alarm' })
    }
  }
  const exported = () =>
    carriers.map((carrier) => ({
      ...carrier,
      groups: groups.filter(({ slots }) => slots.includes(carrier.slot)).map(({ title }) => title),
    }))
  return (
    <section className="what-if screen-only" aria-label={t('frequencies.whatIf.title')} ref={box}>
      <div>
        <p>
          <strong>{t('frequencies.whatIf.changed', { count: changes.length })}</strong> {t('frequencies.whatIf.intro')}
        </p>
        {problem === null ? null : <ProblemLine problem={problem} />}
        {unplaced.length === 0 ? null : <UnplacedList {...{ unplaced, find, scans }} />}
        {accepted.size === 0 ? null : <AcceptedList {...{ accepted, find }} />}
      </div>
      <span className="box-actions">
        {storeButton}
        <button type="button" className="choice" disabled={changes.length === 0} onClick={copy}>
          <Copy className="icon" aria-hidden="true" />
          {t('parts.copy.copy')}
        </button>
        <ExportMenu
          name={t('frequencies.export.tried')}
          fileOf={(format) => ({ text: () => exportCarriers(format, exported(), region) })}
        />
        <button type="button" className="choice" onClick={onEnd}>
          <X className="icon" aria-hidden="true" />
          {t('frequencies.whatIf.end')}
        </button>
      </span>
    </section>
  )
}

/** A long list is closed at first. */
const longest = 12

function UnplacedList({
  unplaced,
  find,
  scans,
}: { readonly unplaced: readonly Unplaced[] } & Pick<WhatIfProps, 'find' | 'scans'>) {
  return (
    <details className="unplaced" open={unplaced.length <= longest}>
      <summary className="problem">
        <span role="status">{t('frequencies.whatIf.unplaced', { count: unplaced.length })}</span>
      </summary>
      <ul aria-label={t('frequencies.whatIf.unplacedList')}>
        {unplaced.map(({ carrier: { id, label }, reason }) => (
          <li key={id}>
            <bdi>{label}</bdi>
            {reason === null ? null : <small>{reasonText(reason, find, scans)}</small>}
          </li>
        ))}
      </ul>
    </details>
  )
}

function AcceptedList({ accepted, find }: Pick<Suggestion, 'accepted'> & Pick<WhatIfProps, 'find'>) {
  return (
    <details className="unplaced" open={accepted.size <= longest}>
      <summary>{t('frequencies.whatIf.accepted', { count: accepted.size })}</summary>
      <ul aria-label={t('frequencies.whatIf.acceptedList')}>
        {[...accepted].map(([id, kinds]) => (
          <li key={id}>
            <bdi>{find(id).label}</bdi>
            <small>{acceptedText(kinds)}</small>
          </li>
        ))}
      </ul>
    </details>
  )
}

function changeLine({ label, mhz }: ShownCarrier): string {
  return `${label}\t${mhz}`
}
