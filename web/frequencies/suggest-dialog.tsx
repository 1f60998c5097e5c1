import { useState } from 'react'
import type { GuardLevel } from '../../src/contract/values.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { TextField, TickField } from '../parts/forms/field.tsx'
import type { ShownCarrier, Tried } from './carriers.ts'
import {
  applySuggestion,
  formatRanges,
  listKept,
  listWanted,
  listZones,
  nothingTried,
  parseRanges,
  type Suggestion,
  usualRange,
  withTried,
} from './suggestion.ts'
import type { MeasuredLimits } from './use-frequencies.ts'

/** Conflicts of these kinds are accepted for carriers that do not fit otherwise. */
const acceptedKinds: '2t5o'[] = ['2t5o']

interface SuggestDialogProps {
  readonly carriers: readonly ShownCarrier[]
  readonly chosen: readonly ShownCarrier[]
  readonly tried: Tried
  readonly level: GuardLevel
  /** The scans that suggestions consider. */
  readonly measured: MeasuredLimits | null
  onDone(suggestion: Suggestion): void
  onClose(): void
}

export function SuggestDialog({ carriers, tried, level, measured, onDone, onClose, ...props }: SuggestDialogProps) {
  const { api } = useServices()
  // As selected when the dialog was opened.
  const [chosen] = useState(props.chosen)
  const check = (values: FormData) => rangeProblem(values, 'ranges') ?? rangeProblem(values, 'avoid')
  // Zone by zone: placed carriers keep their distance from those of the next zone.
  const send = async (values: FormData): Promise<ApiResponse<Suggestion>> => {
    const ranges = parseRanges(String(values.get('ranges'))) ?? []
    const avoid = [...(parseRanges(String(values.get('avoid'))) ?? [])]
    const soft = values.get('soft') === null ? [] : acceptedKinds
    let suggestion: Suggestion = { ...nothingTried, tried }
    let missing = chosen
    for (const zone of listZones(chosen)) {
      const inZone = chosen.filter((carrier) => carrier.zone === zone)
      const keep = listKept(withTried(carriers, suggestion.tried), missing, zone)
      const others = { soft, ...(measured !== null && { measured }) }
      const body = { wanted: listWanted(inZone, ranges), keep, avoid, level, ...others }
      const response = await api.write('POST', '/api/frequencies/suggest/', body, 'object')
      if (!response.ok) return response
      suggestion = applySuggestion(suggestion, inZone, response.body)
      missing = missing.filter((carrier) => carrier.zone !== zone)
    }
    return { ok: true, body: suggestion }
  }
  const scans = t('frequencies.conflicts.withScans', { count: measured?.scan_ids.length ?? 0 })
  return (
    <FormDialog
      title={t('frequencies.whatIf.suggestTitle', { count: chosen.length })}
      action={t('frequencies.whatIf.suggest')}
      {...{ check, send, onDone, onClose }}
    >
      <p className="hint">{t('frequencies.whatIf.suggestIntro', { level: t(`frequencies.levels.${level}`), scans })}</p>
      <TextField
        name="ranges"
        label={t('frequencies.whatIf.ranges')}
        hint={t('frequencies.whatIf.rangesHint')}
        rows={2}
        defaultValue={formatRanges([usualRange(chosen)])}
      />
      <TextField name="avoid" label={t('frequencies.whatIf.avoid')} rows={2} />
      <TickField name="soft" label={t('frequencies.whatIf.soft')} hint={t('frequencies.whatIf.softHint')} />
    </FormDialog>
  )
}

function rangeProblem(values: FormData, field: 'ranges' | 'avoid'): Problem | null {
  const ranges = parseRanges(String(values.get(field)))
  if (ranges !== null && (field === 'avoid' || ranges.length > 0)) return null
  return { kind: 'refused', field, detail: t('frequencies.whatIf.rangeExpected') }
}
