/** Tried frequencies are checked, suggested, copied and downloaded, but never stored or sent to receivers. */

import { Copy, Download, Sparkles, X } from 'lucide-react'
import { useState } from 'react'
import type { GuardLevel } from '../../src/contract/values.ts'
import { byteOrderMark, toLine, toTextCell } from '../../src/domain/csv.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { FormDialog } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { TextField } from '../parts/forms/field.tsx'
import { listChanges, type Plan, type ShownCarrier } from './carriers.ts'
import { applySuggestion, formatRanges, listKept, listWanted, listZones, parseRanges } from './suggestion.ts'

interface WhatIfProps {
  readonly carriers: readonly ShownCarrier[]
  readonly chosen: readonly ShownCarrier[]
  readonly plan: Plan
  readonly level: GuardLevel
  readonly problem: Problem | null
  onPlan(plan: Plan): void
  onEnd(): void
}

export function WhatIf({ carriers, chosen, plan, level, problem, onPlan, onEnd }: WhatIfProps) {
  const [isAsking, setAsking] = useState(false)
  const [unplaced, setUnplaced] = useState(0)
  const showMessage = useShowMessage()
  const changes = listChanges(carriers)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(changes.map(changeLine).join('\n'))
      showMessage({ text: t('frequencies.whatIf.copied', { count: changes.length }) })
    } catch {
      showMessage({ text: t('frequencies.whatIf.notCopied'), tone: 'alarm' })
    }
  }
  const suggested = (suggestion: Suggested) => {
    setAsking(false)
    setUnplaced(suggestion.unplaced)
    onPlan(suggestion.plan)
  }
  return (
    <section className="what-if screen-only" aria-label={t('frequencies.whatIf.title')}>
      <div>
        <p>
          <strong>{t('frequencies.whatIf.changed', { count: changes.length })}</strong> {t('frequencies.whatIf.intro')}
        </p>
        {problem === null ? null : <ProblemLine problem={problem} />}
        {unplaced === 0 ? null : (
          <p className="problem" role="status">
            {t('frequencies.whatIf.unplaced', { count: unplaced })}
          </p>
        )}
      </div>
      <span className="box-actions">
        <button type="button" className="choice" disabled={chosen.length === 0} onClick={() => setAsking(true)}>
          <Sparkles className="icon" aria-hidden="true" />
          {t('parts.list.withCount', { action: t('frequencies.whatIf.suggest'), count: chosen.length })}
        </button>
        <button type="button" className="choice" disabled={changes.length === 0} onClick={copy}>
          <Copy className="icon" aria-hidden="true" />
          {t('parts.copy.copy')}
        </button>
        <button type="button" className="choice" disabled={changes.length === 0} onClick={() => download(changes)}>
          <Download className="icon" aria-hidden="true" />
          {t('documents.csv')}
        </button>
        <button type="button" className="choice" onClick={onEnd}>
          <X className="icon" aria-hidden="true" />
          {t('frequencies.whatIf.end')}
        </button>
      </span>
      {isAsking ? (
        <SuggestDialog {...{ carriers, chosen, plan, level }} onDone={suggested} onClose={() => setAsking(false)} />
      ) : null}
    </section>
  )
}

function changeLine({ label, mhz }: ShownCarrier): string {
  return `${label}\t${mhz}`
}

function download(changes: readonly ShownCarrier[]): void {
  const lines = changes.map(({ slot, name, presentMhz, mhz }) =>
    toLine([String(slot), toTextCell(name), presentMhz, mhz]),
  )
  const file = new Blob([byteOrderMark, toLine(['slot', 'name', 'present_mhz', 'new_mhz']), ...lines], {
    type: 'text/csv',
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = 'frequencies.csv'
  link.click()
  // The browser has begun to read the file when the click returns.
  setTimeout(() => URL.revokeObjectURL(link.href))
}

interface Suggested {
  readonly plan: Plan
  readonly unplaced: number
}

interface SuggestDialogProps extends Pick<WhatIfProps, 'carriers' | 'chosen' | 'plan' | 'level'> {
  onDone(suggestion: Suggested): void
  onClose(): void
}

function SuggestDialog({ carriers, chosen, plan, level, onDone, onClose }: SuggestDialogProps) {
  const { api } = useServices()
  const check = (values: FormData) => rangeProblem(values, 'ranges') ?? rangeProblem(values, 'avoid')
  // Zone by zone: placed carriers keep their distance from those of the next zone.
  const send = async (values: FormData): Promise<ApiResponse<Suggested>> => {
    const ranges = parseRanges(String(values.get('ranges'))) ?? []
    const avoid = [...(parseRanges(String(values.get('avoid'))) ?? [])]
    let suggested: Suggested = { plan, unplaced: 0 }
    let missing = chosen
    for (const zone of listZones(chosen)) {
      const inZone = chosen.filter((carrier) => carrier.zone === zone)
      const keep = listKept(
        carriers.map((carrier) => withPlan(carrier, suggested.plan)),
        missing,
        zone,
      )
      const body = { wanted: listWanted(inZone, ranges), keep, avoid, level }
      const response = await api.write('POST', '/api/frequencies/suggest/', body, 'object')
      if (!response.ok) return response
      const { carriers: found, unplaced } = response.body
      suggested = {
        plan: applySuggestion(suggested.plan, inZone, found),
        unplaced: suggested.unplaced + unplaced.reduce((sum, { count }) => sum + count, 0),
      }
      missing = missing.filter((carrier) => carrier.zone !== zone)
    }
    return { ok: true, body: suggested }
  }
  return (
    <FormDialog
      title={t('frequencies.whatIf.suggestTitle', { count: chosen.length })}
      action={t('frequencies.whatIf.suggest')}
      {...{ check, send, onDone, onClose }}
    >
      <p className="hint">{t('frequencies.whatIf.suggestIntro', { level: t(`frequencies.levels.${level}`) })}</p>
      <TextField
        name="ranges"
        label={t('frequencies.whatIf.ranges')}
        hint={t('frequencies.whatIf.rangesHint')}
        rows={2}
        defaultValue={formatRanges([usualRange(chosen)])}
      />
      <TextField name="avoid" label={t('frequencies.whatIf.avoid')} rows={2} />
    </FormDialog>
  )
}

function withPlan(carrier: ShownCarrier, plan: Plan): ShownCarrier {
  const khz = plan.get(carrier.id)
  return khz === undefined ? carrier : { ...carrier, khz, mhz: formatMhz(khz), isTried: true }
}

function usualRange(chosen: readonly ShownCarrier[]) {
  const frequencies = chosen.map(({ khz }) => khz)
  const [from, to] = [Math.floor(Math.min(...frequencies) / 1000), Math.ceil(Math.max(...frequencies) / 1000)]
  return { from: `${from}.000`, to: `${Math.max(from + 1, to)}.000` }
}

function rangeProblem(values: FormData, field: 'ranges' | 'avoid'): Problem | null {
  const ranges = parseRanges(String(values.get(field)))
  if (ranges !== null && (field === 'avoid' || ranges.length > 0)) return null
  return { kind: 'refused', field, detail: t('frequencies.whatIf.rangeExpected') }
}
