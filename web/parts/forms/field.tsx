import { type ComponentProps, type ReactNode, useId, useState } from 'react'
import { t } from '../../app/i18n.ts'
import { useChangedText, useEntered, useFieldProblem } from './field-state.ts'

interface Described {
  /** Error responses with this name are shown at the field. */
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
}

type InputProps = Described & Omit<ComponentProps<'input'>, keyof Described>

export function Field({ name, label, hint, ...input }: InputProps) {
  const { hints, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ label, hints }} isOptional={input.required === false}>
      <input className="input" type="text" {...input} {...useBeginning(name, input)} {...described} name={name} />
    </Frame>
  )
}

export function PasswordField({ name, label, hint, ...input }: InputProps) {
  const { hints, described } = useDescribed({ name, hint })
  const [isShown, setShown] = useState(false)
  return (
    <Frame {...{ label, hints }} isOptional={input.required === false}>
      <span className="input-row">
        <input
          className="input"
          {...input}
          {...useBeginning(name, input)}
          {...described}
          {...{ name, 'data-secret': '' }}
          type={isShown ? 'text' : 'password'}
        />
        <button type="button" className="choice" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {t('parts.form.showPassword')}
          <span className="visually-hidden"> {label}</span>
        </button>
      </span>
    </Frame>
  )
}

type SecretProps = InputProps & {
  /** `********` stands for the stored value. */
  readonly stored: string
  /** The stored value may not be sent to the new address. */
  readonly isMoved: boolean
}

/**
 * `********` stands for the kept value. It is selected on focus, because partly edited asterisks would be stored as
 * the secret.
 */
export function SecretField({ stored, isMoved, hint, required, ...input }: SecretProps) {
  const [entered] = useEntered(input.name) ?? []
  const [typed, setTyped] = useState(entered ?? null)
  const isLost = isMoved && stored !== ''
  return (
    <PasswordField
      {...input}
      hint={isLost ? t('parts.form.enterAgain') : hint}
      required={isLost || required}
      value={typed ?? (isLost ? '' : stored)}
      autoComplete="new-password"
      onChange={({ target }) => setTyped(target.value)}
      onFocus={({ target }) => target.select()}
    />
  )
}

type SelectProps = Described & {
  readonly options: readonly { readonly value: string; readonly text: string }[]
} & Omit<ComponentProps<'select'>, keyof Described | 'children'>

export function SelectField({ name, label, hint, options, ...select }: SelectProps) {
  const { hints, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ label, hints }}>
      <select className="input" {...select} {...useBeginning(name, select)} {...described} name={name}>
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function TextField({
  name,
  label,
  hint,
  ...area
}: Described & Omit<ComponentProps<'textarea'>, keyof Described>) {
  const { hints, described } = useDescribed({ name, hint })
  return (
    <Frame {...{ label, hints }}>
      <textarea className="input" rows={4} {...area} {...useBeginning(name, area)} {...described} name={name} />
    </Frame>
  )
}

/** The value is `on` if it is checked, otherwise absent. */
export function TickField({ name, label, hint, ...input }: InputProps) {
  const { hints, described } = useDescribed({ name, hint })
  const entered = useEntered(name)
  const beginning = entered === undefined || 'checked' in input ? null : { defaultChecked: entered.length > 0 }
  return (
    <div className="field" data-label={label}>
      <label className="tick">
        <input type="checkbox" {...input} {...beginning} {...described} name={name} />
        <span>{label}</span>
      </label>
      <Hints {...hints} />
    </div>
  )
}

interface Ids {
  readonly field: string
  readonly hint: string
  readonly problem: string
  readonly changed: string
}

/** Restores earlier input in an uncontrolled field. */
function useBeginning(name: string, control: object) {
  const [first] = useEntered(name) ?? []
  return first === undefined || 'value' in control ? null : { defaultValue: first }
}

/** `entry` is the name of the controls, if it differs from that of the field. */
export function useDescribed({ name, hint }: Pick<Described, 'name' | 'hint'>, entry = name) {
  const id = useId()
  const problem = useFieldProblem(name)
  const changed = useChangedText(entry)
  const ids: Ids = { field: id, hint: `${id}hint`, problem: `${id}problem`, changed: `${id}changed` }
  const parts = [problem === null ? null : ids.problem, changed === null ? null : ids.changed, hint && ids.hint]
  const described = {
    id,
    'aria-invalid': problem !== null || undefined,
    'aria-describedby': parts.filter((part) => part).join(' ') || undefined,
  }
  return { hints: { ids, hint, problem, changed }, described }
}

interface Hints {
  readonly ids: Ids
  readonly hint: ReactNode
  readonly problem: string | null
  /** The present value, if another user has changed it meanwhile. */
  readonly changed: string | null
}

interface FrameProps {
  readonly label: string
  readonly hints: Hints
  readonly isOptional?: boolean
  readonly children: ReactNode
}

export function Frame({ label, hints, isOptional = false, children }: FrameProps) {
  return (
    <div className="field" data-label={label}>
      <label htmlFor={hints.ids.field}>
        {label}
        {isOptional ? <span className="field-optional"> ({t('parts.form.optional')})</span> : null}
      </label>
      {children}
      <Hints {...hints} />
    </div>
  )
}

export function Hints({ ids, hint, problem, changed }: Hints) {
  return (
    <>
      {problem === null ? null : (
        <p className="problem" id={ids.problem} role="alert">
          {problem}
        </p>
      )}
      <ChangedNote id={ids.changed} text={changed} />
      {hint === undefined ? null : (
        <p className="hint" id={ids.hint}>
          {hint}
        </p>
      )}
    </>
  )
}

/** `text` is the present value, if another user has changed the field meanwhile. */
export function ChangedNote({ id, text }: { id?: string; text: string | null }) {
  if (text === null) return null
  return (
    <p className="field-changed" id={id}>
      {t('parts.form.conflict.changedTo', { value: text })}
    </p>
  )
}

export function toLocalInput(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function fromLocalInput(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
