import { Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import type { MeasuredBody } from '../../src/contract/frequencies.ts'
import type { ScanBody, UploadedScanBody } from '../../src/contract/scans.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Resource } from '../app/resource.ts'
import type { Selection } from '../app/selection.ts'
import { useMay } from '../app/session.ts'
import { Dialog, DialogEnd, Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Field, TickField } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { traceVariable } from './colours.ts'
import { fileProblem } from './file-problem.ts'
import { MeasuredLimits } from './measured-limits.tsx'

type ShownScans = Pick<Selection, 'ids' | 'has' | 'toggle'>

interface ScansProps {
  readonly resource: Resource<readonly ScanBody[]>
  readonly shown: ShownScans
  /** The scans that are considered by default; null until they are read. */
  readonly measured: MeasuredBody | null
  onChosen(): Promise<void>
}

export function Scans({ resource, shown, measured, onChosen }: ScansProps) {
  const mayOperate = useMay('operate')
  const [isUploading, setUploading] = useState(false)
  const [removed, setRemoved] = useState<ScanBody | null>(null)
  return (
    <section className="frequencies-section screen-only" aria-label={t('frequencies.scans.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.scans.title')}</h2>
        {mayOperate && measured !== null ? <UseForChecks {...{ shown, measured, onChosen }} /> : null}
        {mayOperate ? (
          <button type="button" className="choice" onClick={() => setUploading(true)}>
            <Upload className="icon" aria-hidden="true" />
            {t('frequencies.scans.upload')}
          </button>
        ) : null}
      </header>
      <Loaded resource={resource}>
        {(scans) =>
          scans.length === 0 ? (
            <p className="box-note">{t('frequencies.scans.none')}</p>
          ) : (
            <ul className="scan-list">
              {scans.map((scan) => (
                <ScanItem
                  key={scan.id}
                  isUsed={measured?.scan_ids.includes(scan.id) ?? false}
                  {...{ scan, shown }}
                  onRemove={mayOperate ? setRemoved : null}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {measured === null ? null : <MeasuredLimits measured={measured} onDone={onChosen} />}
      {isUploading && measured !== null ? (
        <UploadScan {...{ measured, onChosen }} onDone={resource.reload} onClose={() => setUploading(false)} />
      ) : null}
      {removed === null ? null : (
        <Removal
          title={t('frequencies.scans.removeTitle', { name: plainText(removed.name) })}
          action={t('frequencies.scans.remove')}
          done={t('frequencies.scans.removed')}
          path={`/api/scans/${removed.id}/`}
          record={removed}
          onDone={resource.reload}
          onClose={() => setRemoved(null)}
        >
          <p>{t('frequencies.scans.removeText')}</p>
        </Removal>
      )}
    </section>
  )
}

/** Makes the ticked scans those that are considered by default. */
function UseForChecks({
  shown,
  measured,
  onChosen,
}: Omit<ScansProps, 'resource'> & { readonly measured: MeasuredBody }) {
  const use = useScansForChecks(measured, onChosen)
  const isSame =
    shown.ids.length === measured.scan_ids.length && shown.ids.every((id) => measured.scan_ids.includes(id))
  return (
    <button type="button" className="choice" disabled={isSame} onClick={() => use(shown.ids)}>
      {t('frequencies.scans.use')}
    </button>
  )
}

function useScansForChecks({ version, ...limits }: MeasuredBody, onChosen: () => Promise<void>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  return async (ids: readonly number[]): Promise<boolean> => {
    const body = { ...limits, scan_ids: [...ids] }
    const response = await api.write('PUT', '/api/frequencies/measured/', body, 'object', version)
    if (response.ok) showMessage({ text: t('frequencies.scans.used') })
    else showMessage({ text: response.problem.detail, tone: 'alarm' })
    await onChosen()
    return response.ok
  }
}

interface ScanItemProps {
  readonly isUsed: boolean
  readonly scan: ScanBody
  readonly shown: ShownScans
  readonly onRemove: ((scan: ScanBody) => void) | null
}

function ScanItem({ scan, shown, isUsed, onRemove }: ScanItemProps) {
  const { id, format, unit, calibrated, step_khz, points, from_mhz, to_mhz, taken_at, uploaded_at, by } = scan
  const name = plainText(scan.name)
  const index = shown.ids.indexOf(id)
  const facts = [
    t(`frequencies.scans.formats.${format}`),
    t('frequencies.scans.range', { from: from_mhz, to: to_mhz, count: points }),
    step_khz === null ? null : t('frequencies.scans.step', { step: step_khz }),
    unit === null ? null : t('frequencies.scans.unit', { unit: plainText(unit) }),
    calibrated ? null : t('frequencies.scans.notCalibrated'),
    isUsed ? t('frequencies.scans.inUse') : null,
    taken_at === null ? null : t('frequencies.scans.taken', { time: formatMoment(taken_at) }),
    t('frequencies.scans.uploaded', { time: formatMoment(uploaded_at), by: plainText(by) }),
  ]
  return (
    <li className="scan">
      <label className="tick">
        <input type="checkbox" checked={shown.has(id)} onChange={() => shown.toggle(id)} />
        <span>
          <span
            className="scan-sign"
            aria-hidden="true"
            style={{ background: index < 0 ? 'transparent' : traceVariable(index) }}
          />
          <bdi>{name}</bdi>
        </span>
      </label>
      <span className="box-note">{facts.filter((fact) => fact !== null).join(' · ')}</span>
      {onRemove === null ? null : (
        <button type="button" className="choice" onClick={() => onRemove(scan)}>
          {t('frequencies.scans.remove')}
          <span className="visually-hidden"> {name}</span>
        </button>
      )}
    </li>
  )
}

interface UploadScanProps {
  readonly measured: MeasuredBody
  onChosen(): Promise<void>
  onDone(): Promise<void>
  onClose(): void
}

function UploadScan({ measured, onChosen, onDone, onClose }: UploadScanProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const use = useScansForChecks(measured, onChosen)
  const isUsed = useRef(true)
  const [incomplete, setIncomplete] = useState<UploadedScanBody | null>(null)
  const send = (values: FormData) => {
    const form = new FormData()
    const offset = String(values.get('offset_db')).trim().replace(',', '.').replace('−', '-')
    if (offset !== '') form.append('offset_db', offset)
    for (const file of values.getAll('file')) form.append('file', file)
    isUsed.current = values.get('use') !== null
    return api.upload('/api/scans/', form)
  }
  const done = async (uploaded: UploadedScanBody) => {
    const { id, name, points, rows_read, rows_skipped } = uploaded
    const isDone = !isUsed.current || (await use([...measured.scan_ids, id]))
    if (rows_skipped.length > 0) setIncomplete(uploaded)
    else {
      onClose()
      if (isDone)
        showMessage({ text: t('frequencies.scans.done', { name: plainText(name), count: points, rows: rows_read }) })
    }
    await onDone()
  }
  if (incomplete !== null) return <SkippedRows scan={incomplete} onClose={onClose} />
  return (
    <FormDialog
      title={t('frequencies.scans.uploadTitle')}
      action={t('frequencies.scans.upload')}
      check={fileProblem}
      {...{ send, onClose }}
      onDone={done}
    >
      <Field
        name="file"
        type="file"
        multiple
        label={t('frequencies.scans.file')}
        hint={t('frequencies.scans.fileHint')}
        accept=".csv,.txt,.sdb2,.sdb3,.rfe,.spa,.dat,.asc,.xls"
      />
      <Field
        name="offset_db"
        label={t('frequencies.scans.offset')}
        hint={t('frequencies.scans.offsetHint')}
        required={false}
        inputMode="text"
        autoComplete="off"
      />
      <TickField name="use" label={t('frequencies.scans.use')} hint={t('frequencies.scans.useHint')} defaultChecked />
    </FormDialog>
  )
}

function SkippedRows({ scan, onClose }: { scan: UploadedScanBody; onClose(): void }) {
  const { name, points, rows_read, rows_skipped } = scan
  return (
    <Dialog title={t('frequencies.scans.skippedTitle', { name: plainText(name) })} onClose={onClose}>
      <p>{t('frequencies.scans.done', { name: plainText(name), count: points, rows: rows_read })}</p>
      <ul className="skipped-rows" aria-label={t('frequencies.scans.skippedRows')}>
        {rows_skipped.map((row) => (
          <li key={`${row.file} ${row.line} ${row.why}`}>{skippedText(row)}</li>
        ))}
      </ul>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}

function skippedText({ file, line, why: reason }: UploadedScanBody['rows_skipped'][number]): string {
  const why = plainText(reason)
  if (file === undefined) return t('frequencies.scans.skipped', { line, why })
  return t('frequencies.scans.skippedIn', { line, why, file: plainText(file) })
}
