/** Documents that real libraries wrote, and a presentation of its smallest parts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSkillsCell, type SkillsCell } from './cell.js';

const makeDocuments = String.raw`
import docx, pypdf, sys, zipfile
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

document = docx.Document()
document.add_heading("Report", 0)
document.add_paragraph("First\tline").add_run(" and more").bold = True
table = document.add_table(rows=1, cols=2)
table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
document.add_paragraph("Last line")
document.save("report.docx")

writer = pypdf.PdfWriter()
for text in ["Hello page one", "And page two"]:
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
                             NameObject("/BaseFont"): NameObject("/Helvetica")})
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
    stream = DecodedStreamObject()
    stream.set_data(b"BT /F1 12 Tf 20 100 Td (" + text.encode() + b") Tj ET")
    page[NameObject("/Contents")] = stream
writer.write("report.pdf")

open("paper.tex", "w").write(r"\documentclass{article}\begin{document}\textbf{Bold} and \emph{soft} caf\'e\end{document}")

p = "http://schemas.openxmlformats.org/presentationml/2006/main"
a = "http://schemas.openxmlformats.org/drawingml/2006/main"
r = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
slide = '<p:sld xmlns:p="%s" xmlns:a="%s">%s</p:sld>'
line = "<a:p><a:r><a:t>%s</a:t></a:r></a:p>"
with zipfile.ZipFile("talk.pptx", "w") as archive:
    archive.writestr("ppt/presentation.xml", '<p:presentation xmlns:p="%s" xmlns:r="%s"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>' % (p, r))
    archive.writestr("ppt/_rels/presentation.xml.rels", '<Relationships><Relationship Id="rId1" Target="slides/slide1.xml"/><Relationship Id="rId2" Target="/ppt/slides/slide2.xml"/></Relationships>')
    archive.writestr("ppt/slides/slide1.xml", slide % (p, a, line % "The end"))
    archive.writestr("ppt/slides/slide2.xml", slide % (p, a, line % "Title" + line % "Point"))
open("broken", "w").write("nothing of the kind")
import os; print(os.getcwd())
`;

describe.each(['cli', 'sandbox'] as const)('on %s', (backend) => {
  let cell: SkillsCell;
  let place: string;
  beforeAll(async () => {
    cell = await openSkillsCell(backend);
    place = await cell.python(makeDocuments);
  });
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test.each([
    ['parse_docx', 'report.docx', 'DOCX', 'Report\nFirst\tline and more\nleft\tright\nLast line'],
    ['parse_pdf', 'report.pdf', 'PDF', '@@ Page 1 @@\nHello page one\n\n@@ Page 2 @@\nAnd page two'],
    ['parse_latex', 'paper.tex', 'LaTeX', 'Bold and soft café'],
    ['parse_pptx', 'talk.pptx', 'PowerPoint', '@@ Slide 1 @@\nTitle\nPoint\n\n@@ Slide 2 @@\nThe end'],
  ])('%s prints the text of %s', async (skill, file, kind, text) => {
    expect(await cell.python(`${skill}("${file}")`)).toBe(
      `[Reading ${kind} file from ${place}/${file}]\n${text}`,
    );
    expect(await cell.python(`${skill}("missing")`)).toBe('ERROR: File missing not found.');
  });

  test.each([
    ['parse_docx', 'DOCX'],
    ['parse_pdf', 'PDF'],
    ['parse_pptx', 'PowerPoint'],
  ])('%s says so when a file is none of its kind', async (skill, kind) => {
    const text = await cell.python(`${skill}("broken")`);
    expect(text.split('\n').at(-1)).toContain(`ERROR: ${place}/broken cannot be read as a ${kind} file: `);
  });

  test.each([
    ['parse_pdf("report.pdf")', 'pypdf', ['pypdf', 'PyPDF2']],
    ['parse_latex("paper.tex")', 'pylatexenc', ['pylatexenc.latex2text']],
  ])('%s without %s says how to get it', async (call, name, modules) => {
    const without = `sys.modules | dict.fromkeys(${JSON.stringify(modules)})`;
    const code = `from unittest import mock\nwith mock.patch.dict(sys.modules, ${without}): ${call}\nprint(sys.executable)`;
    const [error, interpreter] = (await cell.python(code)).split('\n');
    expect(error).toBe(
      `ERROR: ${call.split('(')[0]} needs the package ${name}, which is not installed here. Install it with: ${interpreter} -m pip install ${name}`,
    );
  });

  test('the editor shows documents as text and does not change them', async () => {
    const edit = (args: string) => cell.python(`print(file_editor(${args}))`);
    expect(await edit(`"view", "${place}/talk.pptx"`)).toContain('@@ Slide 2 @@\\nThe end');
    expect(await edit(`"str_replace", "${place}/talk.pptx", old_str="a", new_str="b"`)).toContain(
      'is a document, for which only \\"view\\" can be used.',
    );
  });
});
