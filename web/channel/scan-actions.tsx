/** Marks a receiver as a spare, and scans the spectrum with it. */

import { AudioWaveform, LifeBuoy, Square } from 'lucide-react'
import { useState } from 'react'
import type { ReceiverWithSources, ScanRangeBody } from '../../src/contract/receivers.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Field } from '../parts/forms/field.tsx'

interface ScanActionsProps {
  readonly receiver: ReceiverWithSources
  /** Reads the receiver again. */
  onChange(): void
}

export function ScanActions({ receiver, onChange }: ScanActionsProps) {
  const mayScan = useMay('administer')
  const [isOpen, setOpen] = useState(false)
  const { scan_range: range, spare, is_active, details } = receiver
  if (!mayScan || range === null) return null
  if (details?.scanning) return <StopButton receiver={receiver} onChange={onChange} />
  return (
    <>
      <SpareButton receiver={receiver} onChange={onChange} />
      {spare && is_active ? (
        <button type="button" className="choice" onClick={() => setOpen(true)}>
          <AudioWaveform className="icon" aria-hidden="true" />
          {t('receiver.scan.title')}
        </button>
      ) : null}
      {isOpen ? <ScanDialog receiver={receiver} range={range} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function SpareButton({ receiver: { id, spare }, onChange }: ScanActionsProps) {
  const { api } = useServices()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const change = async () => {
    const response = await send(() => api.write('PATCH', `/api/admin/receivers/${id}/`, { spare: !spare }, 'object'))
    if (response === null) return
    if (response.ok) onChange()
    else showMessage({ text: response.problem.detail, tone: 'alarm' })
  }
  return (
    <button type="button" className="choice" aria-pressed={spare} disabled={isSending} onClick={() => void change()}>
      <LifeBuoy className="icon" aria-hidden="true" />
      {t('receiver.spare')}
    </button>
  )
}

function StopButton({ receiver: { id }, onChange }: ScanActionsProps) {
  const { api } = useServices()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const stop = async () => {
    const response = await send(() => api.write('DELETE', `/api/receivers/${id}/scan/`, undefined, 'nothing'))
    if (response === null) return
    if (response.ok) onChange()
    else showMessage({ text: response.problem.detail, tone: 'alarm' })
  }
  return (
    <button type="button" className="choice" disabled={isSending} onClick={() => void stop()}>
      <Square className="icon" aria-hidden="true" />
      {t('receiver.scan.stop')}
    </button>
  )
}

interface ScanDialogProps {
  readonly receiver: ReceiverWithSources
  readonly range: ScanRangeBody
  onClose(): void
}

function ScanDialog({ receiver: { id, name }, range, onClose }: ScanDialogProps) {
  const { api } = useServices()
  const { from_mhz, to_mhz, step_khz } = range
  const numberIn = (values: FormData, field: string) => Number(values.get(field))
  const send = (values: FormData) => {
    const [from, to, step] = ['from_mhz', 'to_mhz', 'step_khz'].map((field) => numberIn(values, field))
    const body = { from_mhz: from ?? 0, to_mhz: to ?? 0, step_khz: step ?? 0, sweeps: numberIn(values, 'sweeps') }
    return api.write('POST', `/api/receivers/${id}/scan/`, { ...body, confirm: true }, 'object')
  }
  const limits = { type: 'number', min: from_mhz, max: to_mhz, step: 'any', required: true } as const
  return (
    <FormDialog
      title={t('receiver.scan.title')}
      action={t('receiver.scan.start')}
      send={send}
      done={({ source }) => t('receiver.scan.started', { source })}
      onClose={onClose}
    >
      <p className="dialog-text">{t('receiver.scan.what', { name: plainText(name) })}</p>
      <div className="field-columns">
        <Field {...limits} name="from_mhz" label={t('receiver.scan.from')} defaultValue={from_mhz} />
        <Field {...limits} name="to_mhz" label={t('receiver.scan.to')} defaultValue={to_mhz} />
      </div>
      <div className="field-columns">
        <Field
          name="step_khz"
          label={t('receiver.scan.step')}
          type="number"
          min={step_khz}
          step={step_khz}
          required={true}
          defaultValue={step_khz}
        />
        <Field
          name="sweeps"
          label={t('receiver.scan.sweeps')}
          type="number"
          min={1}
          max={1000}
          required={true}
          defaultValue={1}
        />
      </div>
    </FormDialog>
  )
}
