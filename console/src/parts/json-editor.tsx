/** An editor of JSON that marks mistakes. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.content ?? "";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--ground)", color: "var(--text)", maxHeight: "360px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", border: "0" },
  ".cm-content": { caretColor: "var(--text)" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--chosen)" },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: "var(--accent)" },
    { tag: tags.string, color: "var(--good)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  ]),
);

/** The Tab key leaves the editor, as it leaves any field. */
export function JsonEditor({ label, value, onChange }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  change.current = onChange;
  const labelled = useRef(new Compartment());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor holds the text; a new value from outside is set below.
  useEffect(() => {
    if (place.current === null) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(),
          history(),
          bracketMatching(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          theme,
          colours,
          EditorView.lineWrapping,
          labelled.current.of(EditorView.contentAttributes.of({ "aria-label": label })),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor !== undefined && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div className="editor" ref={place} />;
}
