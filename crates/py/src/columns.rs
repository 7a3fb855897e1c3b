//! Result tables as NumPy arrays.

use becalm_metrics::{Column, Data, Table};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

/// All tables as `{table: [(column, unit, values), ...]}`. Numbers are NumPy arrays, text is a list of `str` or a pair of
/// such a list and an array of places in it, and rows of bytes are a list of `bytes`.
pub fn to_python<'py>(py: Python<'py>, tables: Vec<Table>) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for table in tables {
        let columns = table.columns.into_iter().map(|column| to_tuple(py, column)).collect::<PyResult<Vec<_>>>()?;
        result.set_item(table.name, PyList::new(py, columns)?)?;
    }
    Ok(result)
}

fn to_tuple<'py>(py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyTuple>> {
    let values = match column.data {
        Data::F64(values) => values.into_pyarray(py).into_bound_py_any(py)?,
        Data::U64(values) => values.into_pyarray(py).into_bound_py_any(py)?,
        Data::Text(values) => values.into_bound_py_any(py)?,
        Data::Names(names) => (names.list, names.of.into_pyarray(py)).into_bound_py_any(py)?,
        Data::Bytes(rows) => PyList::new(py, rows.iter().map(|row| PyBytes::new(py, row)))?.into_bound_py_any(py)?,
    };
    (column.name, column.unit, values).into_pyobject(py)
}
